import { PersistentVolume, PersistentVolumeClaim, StorageClass } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import { expect, test } from "vitest";
import { planClaim, type SeenClaim } from "./claim-plan.ts";

type Claim = Stored<PersistentVolumeClaim>;
type Volume = Stored<PersistentVolume>;

function claim(spec: object = {}, status: object = {}): Claim {
  const { metadata, ...rest } = PersistentVolumeClaim({
    name: "data",
    namespace: "default",
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "5Gi" } },
      storageClassName: "manual",
      ...spec,
    },
  });
  return { ...rest, metadata: { ...metadata, uid: "claim" }, status } as Claim;
}

function volume(name: string, storage: string, spec: object = {}, more: object = {}): Volume {
  const { metadata, ...rest } = PersistentVolume({
    name,
    spec: {
      capacity: { storage },
      accessModes: ["ReadWriteOnce", "ReadWriteMany"],
      storageClassName: "manual",
      ...spec,
    },
  });
  return {
    ...rest,
    metadata: { ...metadata, ...more },
    status: { phase: spec === bound ? "Bound" : "Available" },
  } as Volume;
}

const reference = { name: "data", namespace: "default" };
const bound = { claimRef: { ...reference, uid: "claim" } };
const taken = { claimRef: { ...reference, uid: "another" } };
const folder = { annotations: { "pv.kubernetes.io/provisioned-by": "setpoint.dev/folder" } };
const storageClass = (provisioner: string, volumeBindingMode: "Immediate" | "WaitForFirstConsumer" = "Immediate") =>
  StorageClass({ name: "manual", provisioner, volumeBindingMode }) as Stored<StorageClass>;

function seen(of: Claim, volumes: readonly Volume[], more: Partial<SeenClaim> = {}): SeenClaim {
  return { claim: of, volumes, storageClass: storageClass("kubernetes.io/no-provisioner"), isUsed: false, ...more };
}

const named = (status: object = {}): Claim => claim({ volumeName: "a" }, status);
const isBound = { phase: "Bound", capacity: { storage: "5Gi" } };
const waits = storageClass("kubernetes.io/no-provisioner", "WaitForFirstConsumer");

test.each<[string, SeenClaim, string]>([
  ["the smallest that fits", seen(claim(), [volume("a", "9Gi"), volume("b", "6Gi"), volume("c", "1Gi")]), "bind b"],
  ["none is large enough", seen(claim(), [volume("a", "1Gi")]), "wait FailedBinding"],
  ["another class", seen(claim(), [volume("a", "9Gi", { storageClassName: "fast" })]), "wait FailedBinding"],
  ["another mode", seen(claim(), [volume("a", "9Gi", { volumeMode: "Block" })]), "wait FailedBinding"],
  ["other access", seen(claim({ accessModes: ["ReadOnlyMany"] }), [volume("a", "9Gi")]), "wait FailedBinding"],
  ["taken by another claim", seen(claim(), [volume("a", "9Gi", taken)]), "wait FailedBinding"],
  [
    "a volume that is being deleted",
    seen(claim(), [volume("a", "9Gi", {}, { deletionTimestamp: "now" })]),
    "wait FailedBinding",
  ],
  [
    "by label",
    seen(claim({ selector: { matchLabels: { disk: "b" } } }), [
      volume("a", "6Gi"),
      volume("b", "9Gi", {}, { labels: { disk: "b" } }),
    ]),
    "bind b",
  ],
  [
    "kept for the claim by name",
    seen(claim(), [volume("a", "5Gi"), volume("b", "9Gi", { claimRef: reference })]),
    "bind b",
  ],
  ["made for the claim", seen(claim(), [volume("a", "1Gi", bound)]), "bind a"],
  ["named by the claim", seen(named(), [volume("a", "1Gi")]), "bind a"],
  ["named, and not there", seen(named(), []), "rest"],
  ["named, and taken by another claim", seen(named(), [volume("a", "9Gi", taken)]), "wait FailedBinding"],
  ["bound", seen(named(isBound), [volume("a", "5Gi", bound)]), "rest"],
  ["bound, the volume is gone", seen(named(isBound), []), "lose ClaimLost"],
  ["bound, the volume is another claim's", seen(named(isBound), [volume("a", "9Gi", taken)]), "lose ClaimMisbound"],
  ["lost stays lost", seen(named({ phase: "Lost" }), [volume("a", "9Gi", taken)]), "rest"],
  [
    "a folder grows",
    seen(named({ phase: "Bound", capacity: { storage: "1Gi" } }), [volume("a", "1Gi", bound, folder)]),
    "expand a",
  ],
  [
    "another volume is grown by its driver",
    seen(named({ phase: "Bound", capacity: { storage: "1Gi" } }), [volume("a", "1Gi", bound)]),
    "rest",
  ],
  ["no class", seen(claim({ storageClassName: "" }), [], { storageClass: undefined }), "wait FailedBinding"],
  ["no such class", seen(claim(), [], { storageClass: undefined }), "wait ProvisioningFailed"],
  ["a class that waits", seen(claim(), [volume("a", "9Gi")], { storageClass: waits }), "wait WaitForFirstConsumer"],
  [
    "a class that waits, a pod is there",
    seen(claim(), [volume("a", "9Gi")], { storageClass: waits, isUsed: true }),
    "bind a",
  ],
  ["a folder", seen(claim(), [], { storageClass: storageClass("setpoint.dev/folder") }), "wait WaitForFirstConsumer"],
  [
    "a folder, a pod is there",
    seen(claim(), [], { storageClass: storageClass("setpoint.dev/folder"), isUsed: true }),
    "wait WaitForPodScheduled",
  ],
  ["a driver", seen(claim(), [], { storageClass: storageClass("disk.example.com") }), "wait ExternalProvisioning"],
])("%s", (_, view, wanted) => {
  const step = planClaim(view);
  const about = "notice" in step ? step.notice.reason : "volume" in step ? step.volume.metadata.name : "";
  expect(`${step.kind} ${about}`.trim()).toBe(wanted);
});
