/** Versions of servers, which decide what a configuration may have. */

export interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  /** Whether it is a candidate of that version, and so before it. */
  readonly isCandidate: boolean;
  readonly text: string;
}

/** The newest ones that the tests of this operator run, and those that an absent `spec.version` means. */
export const defaultPrometheusVersion = "v2.53.3";
export const defaultAlertmanagerVersion = "v0.28.1";

const pattern = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(-[0-9A-Za-z.-]+)?(?:\+.*)?$/;

/** Undefined when the text is no version. */
export function parseVersion(text: string): Version | undefined {
  const [, major, minor, patch, candidate] = pattern.exec(text.trim()) ?? [];
  if (major === undefined) return undefined;
  return {
    major: Number(major),
    minor: Number(minor ?? 0),
    patch: Number(patch ?? 0),
    isCandidate: candidate !== undefined,
    text: text.replace(/^v/, ""),
  };
}

/** `minimum` is a version without a candidate; a candidate of it is taken for older. */
export function isAtLeast(version: Version, minimum: string): boolean {
  const [major = 0, minor = 0, patch = 0] = minimum.split(".").map(Number);
  const differences = [version.major - major, version.minor - minor, version.patch - patch];
  const first = differences.find((difference) => difference !== 0);
  return first === undefined ? !version.isCandidate : first > 0;
}
