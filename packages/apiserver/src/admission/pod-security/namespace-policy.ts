/** The Pod Security levels that a namespace's labels set. */

export const securityLevels = ["privileged", "baseline", "restricted"] as const;

export interface SecurityPolicy {
  readonly level: (typeof securityLevels)[number];
  /** As written: `latest` or `v1.36`. */
  readonly version: string;
  /** The minor version of Kubernetes 1 whose standards hold. */
  readonly minor: number;
}

export interface NamespacePolicy {
  readonly enforce: SecurityPolicy;
  readonly audit: SecurityPolicy;
  readonly warn: SecurityPolicy;
  /** What is wrong with the labels, a sentence for each that is. */
  readonly problems: readonly string[];
}

type Labels = Readonly<Record<string, string>>;

const prefix = "pod-security.kubernetes.io/";
/** The version of the standards that are built in; later ones are taken for it. */
const latestMinor = 36;
const privileged: SecurityPolicy = { level: "privileged", version: "latest", minor: latestMinor };

export const privilegedNamespace: NamespacePolicy = {
  enforce: privileged,
  audit: privileged,
  warn: privileged,
  problems: [],
};

export function readNamespacePolicy(labels: Labels | undefined): NamespacePolicy {
  if (labels === undefined || !Object.keys(labels).some((key) => key.startsWith(prefix))) return privilegedNamespace;
  const problems: string[] = [];
  // An invalid enforce label must not open a namespace; invalid warn and audit labels must not warn for every
  // pod.
  const enforce = readMode(labels, "enforce", "restricted", problems);
  const audit = readMode(labels, "audit", "privileged", problems);
  const asked = readMode(labels, "warn", "privileged", problems);
  const hasWarn = labels[`${prefix}warn`] !== undefined;
  return { enforce, audit, warn: hasWarn ? asked : enforce, problems };
}

function readMode(labels: Labels, mode: string, fallback: SecurityPolicy["level"], problems: string[]): SecurityPolicy {
  const level = labels[`${prefix}${mode}`];
  const version = labels[`${prefix}${mode}-version`];
  const known = securityLevels.find((each) => each === level);
  if (level !== undefined && known === undefined)
    problems.push(problem(mode, level, `must be one of ${securityLevels.join(", ")}`));
  const minor = version === undefined ? latestMinor : minorOf(version);
  if (version !== undefined && minor === undefined)
    problems.push(problem(`${mode}-version`, version, 'must be "latest" or "v1.x"'));
  return {
    level: level === undefined ? "privileged" : (known ?? fallback),
    version: minor === undefined || version === undefined ? "latest" : version,
    minor: minor ?? latestMinor,
  };
}

function problem(key: string, value: string, why: string): string {
  return `metadata.labels[${prefix}${key}]: Invalid value: ${JSON.stringify(value)}: ${why}`;
}

function minorOf(version: string): number | undefined {
  if (version === "latest") return latestMinor;
  const [, minor] = /^v1\.(0|[1-9][0-9]*)$/.exec(version) ?? [];
  return minor === undefined ? undefined : Math.min(Number(minor), latestMinor);
}
