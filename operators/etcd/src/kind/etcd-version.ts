/** etcd versions: which ones this operator runs, and which way from one to another is allowed. */
import { type CatalogueVersion, type UpgradeRules, versionRefusal } from "@setpoint/data-service";

/**
 * etcd's data format allows neither a step back over a minor nor a leap over one; a step back within a minor
 * is refused too, because nobody tests it. 3.4 is the first minor with learners.
 */
const rules: UpgradeRules = {
  engine: "etcd",
  // No Debian suite has 3.6: `npm run e2e:etcd36` builds it.
  supportedMinors: ["3.4", "3.5", "3.6"],
  minorsSkipped: 0,
  patchDowngrade: false,
};

const mayDiverge = "members may diverge after a crash under load (etcd issue 13766)";

/** What is known of versions beyond their numbers. etcd maintains its two newest minors. */
export const etcdVersions: readonly CatalogueVersion[] = [
  { version: "3.4", released: "2019-08-30", deprecated: "2025-05-15", reason: "etcd 3.6 was released" },
  { version: "3.5", released: "2021-06-15" },
  { version: "3.6", released: "2025-05-15" },
  { version: "3.5.0", released: "2021-06-15", withdrawn: "2022-03-31", reason: mayDiverge },
  { version: "3.5.1", released: "2021-10-15", withdrawn: "2022-03-31", reason: mayDiverge },
  { version: "3.5.2", released: "2022-02-01", withdrawn: "2022-03-31", reason: mayDiverge },
];

/** Why no new cluster may have this version; undefined when one may. */
export function newVersionRefusal(version: string, nowMs: number): string | undefined {
  return versionRefusal(rules, etcdVersions, undefined, version, nowMs);
}

/** Why members of version `from` must not be brought to version `to`; undefined when they may. */
export function upgradeRefusal(from: string, to: string, nowMs: number): string | undefined {
  return versionRefusal(rules, etcdVersions, from, to, nowMs) ?? refusalOf36(from, to);
}

/** Earlier patches may keep removed members in their older store, and 3.6 would take those for members. */
const patchBefore36 = 26;

function refusalOf36(from: string, to: string): string | undefined {
  const patch = /^3\.5\.(\d+)$/.exec(from)?.[1];
  if (patch === undefined || !to.startsWith("3.6.") || Number(patch) >= patchBefore36) return undefined;
  return `members run ${from}, and only 3.5.${patchBefore36} and later can be upgraded to 3.6: go to such a version first`;
}

/**
 * Why members of version `to` cannot start on a snapshot of version `from`; undefined when they can. The
 * membership is not in it, so the rule of 3.6 for upgrades does not count. Patches of one minor have one
 * format.
 */
export function dataRefusal(from: string, to: string): string | undefined {
  const [major, minor] = numbersOf(from);
  const [toMajor, toMinor] = numbersOf(to);
  if (major === toMajor && (minor === toMinor || minor + 1 === toMinor)) return undefined;
  const wanted = `${major}.${minor} or ${major}.${minor + 1}`;
  return `the data are of etcd ${from}, and ${to} cannot start on them: restore into a cluster of version ${wanted}`;
}

/** Major and minor. */
export function numbersOf(version: string): readonly [number, number] {
  const [major, minor] = version.split(".").map(Number);
  return [major ?? NaN, minor ?? NaN];
}
