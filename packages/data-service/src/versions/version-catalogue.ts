/** Versions of an engine: which there are, for how long, and which way leads from one to another; pure. */
import { type Lifetime, type LifetimeReport, lifetimeReport } from "./lifetime.ts";

/** One version of an engine, or a whole minor such as "3.5". */
export interface CatalogueVersion extends Lifetime {
  readonly version: string;
  /** The image, where it is not the engine's usual one. */
  readonly image?: string | undefined;
}

/** A version in three numbers; the engine's own order is the order of the numbers. */
export type VersionNumbers = readonly [major: number, minor: number, patch: number];

/** How an engine may be upgraded. */
export interface UpgradeRules {
  /** The engine's name in messages. */
  readonly engine: string;
  /** Minors that the operator has been proven with, such as "3.5". */
  readonly supportedMinors: readonly string[];
  /** How many minors one upgrade may step over; 0: each must be visited. */
  readonly minorsSkipped: number;
  /** Whether a lower patch of the same minor may be installed. */
  readonly patchDowngrade: boolean;
}

export function parseVersion(text: string): VersionNumbers | undefined {
  const match = /^(\d+)\.(\d+)\.(\d+)$/.exec(text);
  return match === null ? undefined : [Number(match[1]), Number(match[2]), Number(match[3])];
}

/** Texts that are no versions come after all versions, in the order of texts. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parseVersion(a), parseVersion(b)];
  if (left === undefined || right === undefined)
    return Number(left === undefined) - Number(right === undefined) || (a < b ? -1 : Number(a > b));
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2];
}

/** Where a version stands on a day. */
export function versionReport(catalogue: readonly CatalogueVersion[], version: string, nowMs: number): LifetimeReport {
  return lifetimeReport(`version ${version}`, entryOf(catalogue, version), nowMs);
}

/** Its own entry, or that of its minor. */
function entryOf(catalogue: readonly CatalogueVersion[], version: string): CatalogueVersion | undefined {
  const numbers = parseVersion(version);
  const minor = numbers === undefined ? version : minorOf(numbers);
  return catalogue.find((each) => each.version === version) ?? catalogue.find((each) => each.version === minor);
}

/**
 * Why an instance of version `from` must not be brought to `to`; undefined when it may. Without `from` it is
 * a new instance. An instance that runs a withdrawn version stays as it is.
 */
export function versionRefusal(
  rules: UpgradeRules,
  catalogue: readonly CatalogueVersion[],
  from: string | undefined,
  to: string,
  nowMs: number,
): string | undefined {
  const wanted = parseVersion(to);
  if (wanted === undefined) return `"${to}" is not a version of the form 3.5.16`;
  if (!rules.supportedMinors.includes(minorOf(wanted)))
    return `version ${to} is not supported, only ${rules.supportedMinors.map((minor) => `${minor}.x`).join(" and ")}`;
  if (from === to) return undefined;
  const report = versionReport(catalogue, to, nowMs);
  if (report.state === "Withdrawn") return report.message;
  const current = from === undefined ? undefined : parseVersion(from);
  return current === undefined || from === undefined ? undefined : pathRefusal(rules, from, current, to, wanted);
}

function pathRefusal(
  { engine, minorsSkipped, patchDowngrade }: UpgradeRules,
  from: string,
  current: VersionNumbers,
  to: string,
  wanted: VersionNumbers,
): string | undefined {
  const [major, minor] = current;
  const isSameMinor = wanted[0] === major && wanted[1] === minor;
  if (compareVersions(from, to) > 0 && !(isSameMinor && patchDowngrade))
    return `members run ${from}, and ${engine} cannot be downgraded to ${to}`;
  if (wanted[0] === major && wanted[1] <= minor + 1 + minorsSkipped) return undefined;
  return `members run ${from}, and an upgrade may not jump over a minor version: go to ${major}.${minor + 1} first`;
}

/**
 * The versions to visit from one to another, the newest available patch of each minor between them. Undefined
 * when no way is known.
 */
export function upgradePath(
  rules: UpgradeRules,
  catalogue: readonly CatalogueVersion[],
  from: string,
  to: string,
  nowMs: number,
): readonly string[] | undefined {
  const path: string[] = [];
  for (let at = from; at !== to;) {
    if (versionRefusal(rules, catalogue, at, to, nowMs) === undefined) return [...path, to];
    const next = farthestFrom(rules, catalogue, at, to, nowMs);
    if (next === undefined) return undefined;
    path.push(next);
    at = next;
  }
  return path;
}

function farthestFrom(
  rules: UpgradeRules,
  catalogue: readonly CatalogueVersion[],
  from: string,
  to: string,
  nowMs: number,
): string | undefined {
  const between = catalogue
    .map(({ version }) => version)
    .filter((version) => compareVersions(version, from) > 0 && compareVersions(version, to) < 0)
    .filter((version) => versionRefusal(rules, catalogue, from, version, nowMs) === undefined);
  return between.toSorted(compareVersions).at(-1);
}

function minorOf([major, minor]: VersionNumbers): string {
  return `${major}.${minor}`;
}
