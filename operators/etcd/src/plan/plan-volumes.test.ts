import type { PersistentVolumeClaim } from "setpoint/kinds";
import { expect, test } from "vitest";
import { planVolumes } from "./plan-volumes.ts";
import { a, b, c, cluster, seen } from "./situation.fixture.ts";
import type { SeenMember } from "../seen/seen.ts";

const defragmentation = { whenFreePercent: 50, minDbSizeMiB: 100 };
const volumeGrowth = { whenUsedPercent: 80, step: "512Mi", max: "2Gi" };

function on(member: SeenMember, storage: string): SeenMember {
  const volume = { metadata: { name: `data-${member.name}` }, spec: { resources: { requests: { storage } } } };
  return { ...member, volume: volume as unknown as PersistentVolumeClaim };
}

function planned(members: readonly SeenMember[], growth: object | undefined): string {
  const maintenance = { defragmentation, ...(growth === undefined ? {} : { volumeGrowth: growth }) } as never;
  const step = planVolumes(seen(members, { cluster: cluster({ maintenance }) }));
  if (step?.kind !== "act") return step?.kind === "wait" ? `wait: ${step.reason}` : "nothing";
  return `${step.action} ${Object.values(step.args).join(" ")}: ${step.reason}`;
}

const full = { dbSizeMiB: 900 };

test.each<readonly [string, readonly SeenMember[], object | undefined, string]>([
  ["is not full", [on(a({ dbSizeMiB: 819 }), "1Gi")], volumeGrowth, "nothing"],
  ["is full, and growth is off", [on(a(full), "1Gi")], undefined, "nothing"],
  [
    "is full",
    [on(a(), "1Gi"), on(b(full), "1Gi"), on(c(full), "1Gi")],
    volumeGrowth,
    "growVolume b 1536Mi: the data of b take 87 % of its volume of 1Gi: it grows to 1536Mi",
  ],
  [
    "is full close to the maximum",
    [on(a({ dbSizeMiB: 1700 }), "1900Mi")],
    volumeGrowth,
    "growVolume a 2Gi: the data of a take 89 % of its volume of 1900Mi: it grows to 2Gi",
  ],
  [
    "is full at the maximum, and another one can grow",
    [on(a({ dbSizeMiB: 1900 }), "2Gi"), on(b({ dbSizeMiB: 1900 }), "1Gi")],
    volumeGrowth,
    "growVolume b 1536Mi: the data of b take 185 % of its volume of 1Gi: it grows to 1536Mi",
  ],
  [
    "is full at the maximum",
    [on(a({ dbSizeMiB: 1900 }), "2Gi")],
    volumeGrowth,
    "wait: the data of a take 92 % of its volume of 2Gi, which may grow to 2Gi by itself: delete keys, or raise spec.maintenance.volumeGrowth.max",
  ],
  ["is larger than the maximum", [on(a(full), "8Gi")], volumeGrowth, "nothing"],
  ["does not answer", [on(a({ ...full, answers: false }), "1Gi")], volumeGrowth, "nothing"],
  ["is full and leaving", [a({ ...full, volume: "leaving" })], volumeGrowth, "nothing"],
])("planVolumes() when a volume %s", (_, members, growth, expected) => {
  expect(planned(members, growth)).toBe(expected);
});
