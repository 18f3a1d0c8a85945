import { PersistentVolume, PersistentVolumeClaim, StorageClass } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import { expect, test } from "vitest";
import type { VolumeView } from "../cluster-view.ts";
import { node, pod, verdicts, view } from "../scheduler.fixture.ts";
import { claimProblem, volumesReachable } from "./volumes.ts";

const required = {
  nodeSelectorTerms: [
    { matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In" as const, values: ["n2"] }] },
  ],
};

function volumes(spec: PersistentVolumeClaim["spec"] | undefined): VolumeView {
  return {
    claim: () =>
      spec === undefined ? undefined : (PersistentVolumeClaim({ name: "data", spec }) as Stored<PersistentVolumeClaim>),
    volume: () => PersistentVolume({ name: "v", spec: { nodeAffinity: { required } } }) as Stored<PersistentVolume>,
    storageClass: (name) =>
      name === "late"
        ? (StorageClass({ name, provisioner: "p", volumeBindingMode: "WaitForFirstConsumer" }) as Stored<StorageClass>)
        : undefined,
  };
}

const candidate = pod({ volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] });

test.each([
  ["not there", undefined, 'persistentvolumeclaim "data" not found'],
  ["not bound", {}, "pod has unbound immediate PersistentVolumeClaims"],
  ["bound where the pod runs", { storageClassName: "late" }, undefined],
  ["bound", { volumeName: "v" }, undefined],
])("a claim that is %s", (_, spec, expected) => {
  expect(claimProblem(candidate, volumes(spec))).toBe(expected);
});

test("a pod runs where its volume is", () => {
  const cluster = view(candidate, [node("n1"), node("n2")], [], volumes({ volumeName: "v" }));
  const elsewhere = "node(s) didn't match PersistentVolume's node affinity";
  expect(verdicts(volumesReachable, candidate, cluster)).toEqual([elsewhere, "ok"]);
});
