import { Pod, ReplicaSet } from "@setpoint/api";
import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import { expect, test } from "vitest";
import { isHeld } from "./collect.ts";
import { OwnerGraph } from "./owner-graph.ts";

type Metadata = Pick<KubeObject["metadata"], "deletionTimestamp" | "finalizers" | "ownerReferences">;

const created = { creationTimestamp: "2026-01-01T00:00:00Z", resourceVersion: "1" };
const stored = (name: string, metadata: Metadata = {}): Stored<KubeObject> => ({
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  metadata: { ...created, name, uid: name, ...metadata },
});
const ownedBy = (...names: readonly string[]): Stored<KubeObject> =>
  stored("pod", {
    ownerReferences: names.map((name) => ({ apiVersion: "apps/v1", kind: "ReplicaSet", name, uid: name })),
  });
const leaving = { deletionTimestamp: "2026-01-01T00:00:01Z" };

test.each([
  ["no owner", ownedBy(), true],
  ["an owner that is there", ownedBy("present"), true],
  ["an owner that goes without waiting", ownedBy("going"), true],
  ["an owner that waits for its dependents", ownedBy("waiting"), false],
  ["an owner that nobody knows", ownedBy("unknown"), false],
  ["an owner that is there and one that nobody knows", ownedBy("present", "unknown"), false],
])("isHeld() of an object with %s", (_, object, held) => {
  const graph = new OwnerGraph();
  graph.set(ReplicaSet, stored("present"));
  graph.set(ReplicaSet, stored("going", leaving));
  graph.set(ReplicaSet, stored("waiting", { ...leaving, finalizers: ["foregroundDeletion"] }));
  graph.set(Pod, object);
  expect(isHeld(object, graph)).toBe(held);
});
