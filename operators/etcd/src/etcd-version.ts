/** etcd versions: which ones this operator runs, and which way from one to another is allowed. */

export interface EtcdVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/** Minors that this operator has been proven with; 3.4 is the first with learners. */
export const supportedMinors: readonly string[] = ["3.4", "3.5"];

export function parseEtcdVersion(text: string): EtcdVersion | undefined {
  const match = /^(\d+)\.(\d+)\.(\d+)$/.exec(text);
  if (match === null) return undefined;
  return { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3]) };
}

export function compareEtcdVersions(a: string, b: string): number {
  if (a === b) return 0;
  const left = parseEtcdVersion(a);
  const right = parseEtcdVersion(b);
  if (left === undefined || right === undefined) return a.localeCompare(b);
  return left.major - right.major || left.minor - right.minor || left.patch - right.patch;
}

/**
 * Why members of version `from` must not be brought to version `to`; undefined when they may. etcd's data format allows
 * neither a step back over a minor nor a leap over one; a step back within a minor is refused too, because nobody tests it.
 */
export function upgradeRefusal(from: string, to: string): string | undefined {
  const current = parseEtcdVersion(from);
  const wanted = parseEtcdVersion(to);
  if (wanted === undefined) return `"${to}" is not a version of the form 3.5.16`;
  if (!supportedMinors.includes(`${wanted.major}.${wanted.minor}`))
    return `version ${to} is not supported, only ${supportedMinors.map((minor) => `${minor}.x`).join(" and ")}`;
  if (current === undefined) return undefined;
  if (compareEtcdVersions(from, to) > 0) return `members run ${from}, and etcd cannot be downgraded to ${to}`;
  if (wanted.major !== current.major || wanted.minor > current.minor + 1)
    return `members run ${from}, and an upgrade may not jump over a minor version: go to ${current.major}.${current.minor + 1} first`;
  return undefined;
}
