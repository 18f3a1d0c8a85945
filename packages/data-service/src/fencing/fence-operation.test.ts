import { defineKind, type ReconcileContext } from "setpoint";
import { expect, test } from "vitest";
import { z } from "zod";
import { changeFencing, type FenceableInstance } from "./fence-operation.ts";

const Shelf = defineKind({ group: "model.setpoint.dev", version: "v1", kind: "Shelf", spec: z.object({}) });
const members = ["a", "b"].map((name) => ({ name, votes: true, healthy: true }));
const seen = { wanted: undefined, recorded: undefined, members, quorum: 2 };
const since = "2026-01-01T00:00:00Z";

/** Released in the spec, of generation 2; its status says that these members are still fenced. */
function released(observedGeneration: number, fenced: readonly string[]): Parameters<typeof changeFencing>[1] {
  const metadata = { name: "books", namespace: "default", uid: "1", resourceVersion: "1", creationTimestamp: since };
  const stopped = fenced.map((name) => ({ name, state: "Stopped" as const, since }));
  const instance: FenceableInstance = { apiVersion: "model.setpoint.dev/v1", kind: "Shelf", metadata, spec: {} };
  const status = { observedGeneration, fencing: { members: stopped } };
  return { ...instance, metadata: { ...metadata, generation: 2 }, status };
}

// A report of a failed reconcile has the new generation, and the words of the status from before.
test.each([
  ["the status is of the spec from before", released(1, ["a"]), "running"],
  ["a reconcile of the new spec has failed", released(2, ["a"]), "running"],
  ["the member is released", released(2, []), "done"],
  ["another member stays fenced", released(2, ["b"]), "done"],
])("Unfence when %s", async (_, instance, state) => {
  const request = { id: "1", type: "Unfence", member: "a" } as const;
  // Nothing is written, so the context is not used.
  expect((await changeFencing(Shelf, instance, seen, request, {} as ReconcileContext)).state).toBe(state);
});
