/**
 * The order of API versions in discovery: GA before beta before alpha, higher numbers first, everything else
 * last by name.
 */

interface KubeVersion {
  readonly major: number;
  /** 2 is GA, 1 beta, 0 alpha. */
  readonly stability: number;
  readonly minor: number;
}

const pattern = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/;

function parse(version: string): KubeVersion | undefined {
  const match = pattern.exec(version);
  if (match === null) return undefined;
  const stability = match[2] === undefined ? 2 : match[2] === "beta" ? 1 : 0;
  return { major: Number(match[1]), stability, minor: Number(match[3] ?? 0) };
}

/** Negative when `a` is listed before `b`. */
export function compareVersions(a: string, b: string): number {
  const left = parse(a);
  const right = parse(b);
  if (left === undefined || right === undefined) {
    if (left !== undefined) return -1;
    if (right !== undefined) return 1;
    return a < b ? -1 : a > b ? 1 : 0;
  }
  return right.stability - left.stability || right.major - left.major || right.minor - left.minor;
}
