import type { PersistentVolumeClaim } from "setpoint/kinds";
import { expect, test } from "vitest";
import { type DeletionPolicy, dueGrowth, isClaimSmall, isMisowned } from "./claims.ts";

const label = "db.example.com/deletion-policy";

function claim(storage: string, metadata: object = {}): PersistentVolumeClaim {
  const spec = { resources: { requests: { storage } } };
  return { metadata: { name: "data-a", ...metadata }, spec } as unknown as PersistentVolumeClaim;
}

const owned = { ownerReferences: [{ uid: "u1" }] };
const marked = { labels: { [label]: "Retain" } };

test.each<[DeletionPolicy, object, boolean]>([
  ["Delete", owned, false],
  ["Delete", {}, true],
  ["Delete", { ...owned, ...marked }, true],
  ["Retain", marked, false],
  ["Retain", owned, true],
  ["Retain", { ...owned, ...marked }, true],
  ["Delete", { deletionTimestamp: "2026-01-01T00:00:00Z" }, false],
])("under %s a claim with %j is misowned: %s", (policy, metadata, expected) => {
  expect(isMisowned(claim("1Gi", metadata), { uid: "u1", policy, label })).toBe(expected);
});

test("a claim is small when less was asked for than is wanted", () => {
  expect(["2Gi", "1Gi", "1024Mi", undefined].map((wanted) => isClaimSmall(claim("1Gi"), wanted))).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

const gibibyte = 1_073_741_824;

test.each([
  ["below the bound", 0.7, "4Gi", undefined],
  ["above the bound", 0.9, "4Gi", { percent: 90, asked: "1Gi", to: "3Gi" }],
  ["no further than the maximum", 0.9, "2Gi", { percent: 90, asked: "1Gi", to: "2Gi" }],
  ["at the maximum", 0.9, "1Gi", { percent: 90, asked: "1Gi" }],
])("a volume grows by itself: %s", (_, used, max, expected) => {
  expect(dueGrowth(claim("1Gi"), used * gibibyte, { whenUsedPercent: 80, step: "2Gi", max })).toEqual(expected);
});
