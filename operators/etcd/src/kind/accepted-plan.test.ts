import type { PersistentVolumeClaim } from "setpoint/kinds";
import { expect, test } from "vitest";
import { acceptPlan } from "./accepted-plan.ts";
import { cluster } from "../plan/situation.fixture.ts";
import type { EtcdPlan } from "./etcd-plans.ts";
import { labels as names } from "./member-names.ts";

const catalogue: readonly EtcdPlan[] = [
  { name: "small", gives: { storage: "2Gi" } },
  { name: "medium", gives: { storage: "4Gi" } },
];
const nowMs = Date.parse("2026-01-01T00:00:00Z");

function volume(storage: string, metadata: object = {}): PersistentVolumeClaim {
  const spec = {
    accessModes: ["ReadWriteOncePod" as const],
    storageClassName: "fast",
    resources: { requests: { storage } },
  };
  return { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: `data-${storage}`, ...metadata }, spec };
}

const template = (storage: string): object => ({
  volumeClaimTemplate: { accessModes: ["ReadWriteOnce" as const], resources: { requests: { storage } } },
});
const inForce = (name: string, storage?: string): object => ({ plan: { name, gives: { storage } } });
const leaving = { deletionTimestamp: "2026-01-01T00:00:00Z" };

test.each([
  ["a plan from the start", { plan: "small" }, {}, [], "2Gi", "2Gi", undefined],
  ["volumes that grew by themselves", { plan: "small" }, inForce("small", "2Gi"), ["9Gi"], "2Gi", "2Gi", undefined],
  [
    "a plan whose volumes were larger before",
    { plan: "small" },
    inForce("small", "3Gi"),
    ["3Gi"],
    "3Gi",
    "3Gi",
    undefined,
  ],
  ["a larger plan", { plan: "medium" }, inForce("small", "2Gi"), ["2Gi"], "4Gi", "4Gi", undefined],
  [
    "a larger plan, one volume larger",
    { plan: "medium" },
    inForce("small", "2Gi"),
    ["2Gi", "9Gi"],
    "4Gi",
    "4Gi",
    undefined,
  ],
  ["a smaller plan", { plan: "small" }, inForce("medium", "4Gi"), ["4Gi", "4Gi"], "4Gi", "4Gi", "spec.plan"],
  [
    "a plan taken back before it grew volumes",
    { plan: "small" },
    inForce("medium", "4Gi"),
    ["2Gi"],
    "2Gi",
    "2Gi",
    undefined,
  ],
  ["a smaller plan than the template", { plan: "medium" }, {}, ["8Gi"], "8Gi", undefined, "spec.plan"],
  ["an unknown plan for the template", { plan: "huge" }, {}, ["8Gi"], "8Gi", undefined, "spec.plan"],
  ["a template beside the plan", { plan: "small", ...template("1Gi") }, {}, ["1Gi"], "1Gi", undefined, undefined],
  [
    "the same, grown by itself",
    { plan: "small", ...template("1Gi") },
    inForce("small"),
    ["9Gi"],
    "1Gi",
    undefined,
    undefined,
  ],
  [
    "a smaller template than the plan",
    template("1Gi"),
    inForce("small", "2Gi"),
    ["2Gi"],
    "2Gi",
    "2Gi",
    "spec.volumeClaimTemplate",
  ],
  ["a larger template than the plan", template("3Gi"), inForce("small", "2Gi"), ["2Gi"], "3Gi", undefined, undefined],
  ["no template any more", { plan: "medium" }, inForce("medium"), ["3Gi"], "4Gi", "4Gi", undefined],
  ["no template any more, and a smaller plan", { plan: "small" }, inForce("small"), ["3Gi"], "3Gi", "3Gi", "spec.plan"],
  ["no record, and a plan that is gone", { plan: "gone" }, inForce("gone", "6Gi"), ["6Gi"], "6Gi", "6Gi", undefined],
])("%s", (_, spec, status, sizes, storage, recorded, refused) => {
  const volumes = sizes.map((size) => volume(size));
  const { cluster: resolved, record, refusals } = acceptPlan(cluster(spec, status), volumes, catalogue, nowMs);
  expect(resolved.spec.volumeClaimTemplate?.resources.requests.storage).toBe(storage);
  expect(record?.gives.storage).toBe(recorded);
  expect(refusals.map(({ field }) => field)).toEqual(refused === undefined ? [] : [refused]);
});

test("only volumes of members count, not those that leave or were given up", () => {
  const volumes = [volume("1Gi", leaving), volume("1Gi", { labels: { [names.givenUp]: "x" } }), volume("8Gi")];
  const { refusals } = acceptPlan(cluster({ plan: "medium" }, inForce("small", "2Gi")), volumes, catalogue, nowMs);
  expect(refusals).toHaveLength(1);
});

test("new members get volumes of the class that the others have", () => {
  const { cluster: resolved } = acceptPlan(cluster({ plan: "medium" }), [volume("2Gi")], catalogue, nowMs);
  expect(resolved.spec.volumeClaimTemplate).toEqual({
    accessModes: ["ReadWriteOncePod"],
    storageClassName: "fast",
    resources: { requests: { storage: "4Gi" } },
  });
});

test("a resource or option that the spec names is the spec's, and the plan gives the others", () => {
  const gives = {
    resources: { requests: { cpu: "1", memory: "4Gi" }, limits: { memory: "4Gi" } },
    storage: "2Gi",
    options: { "quota-backend-bytes": "1", "snapshot-count": "2" },
  };
  const pod = { labels: { team: "shop" }, resources: { limits: { memory: "2Gi" } } };
  const wanted = cluster({ plan: "gold", pod, options: { "snapshot-count": "3" } });
  const { spec } = acceptPlan(wanted, [], [{ name: "gold", gives }], nowMs).cluster;
  expect(spec).toMatchObject({
    pod: { labels: pod.labels, resources: { requests: { cpu: "1" }, limits: { memory: "2Gi" } } },
    options: { "quota-backend-bytes": "1", "snapshot-count": "3" },
  });

  expect(spec.pod?.resources?.requests).toEqual({ cpu: "1" });
});

test("a paused or planned change leaves the record as it is", () => {
  for (const how of [{ dryRun: true }, { paused: true }]) {
    const wanted = cluster({ plan: "medium", ...how }, inForce("small", "2Gi"));
    expect(acceptPlan(wanted, [volume("2Gi")], catalogue, nowMs).record?.name).toBe("small");
  }
});

test("a cluster without a plan stays as it is", () => {
  const wanted = cluster();
  expect(acceptPlan(wanted, [volume("2Gi")], catalogue, nowMs).cluster).toBe(wanted);
});
