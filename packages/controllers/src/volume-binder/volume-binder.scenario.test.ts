import { PersistentVolume, PersistentVolumeClaim, StorageClass } from "@setpoint/api";
import { isNotFound } from "@setpoint/apimachinery";
import { simulate, type World } from "@setpoint/testing";
import { expect, test } from "vitest";

const namespace = "default";
const claim = (storage = "1Gi", spec: object = {}): PersistentVolumeClaim =>
  PersistentVolumeClaim({
    name: "data",
    namespace,
    spec: { accessModes: ["ReadWriteOnce"], storageClassName: "manual", resources: { requests: { storage } }, ...spec },
  });
const volume = (name: string, storage: string, spec: object = {}, annotations = {}): PersistentVolume =>
  PersistentVolume({
    name,
    annotations,
    spec: {
      capacity: { storage },
      accessModes: ["ReadWriteOnce"],
      storageClassName: "manual",
      hostPath: { path: `/volumes/${name}` },
      ...spec,
    },
  });

async function untilPhase(world: World, name: string, phase: string): Promise<void> {
  await world.until(`volume ${name} ${phase}`, async () => {
    const { status } = await world.get(PersistentVolume, name);
    return status?.phase === phase;
  });
}

async function isGone(world: World, name: string): Promise<boolean> {
  return world.get(PersistentVolume, name).then(
    () => false,
    (error: unknown) => isNotFound(error),
  );
}

test("a claim takes the smallest volume, which is released with the claim and goes when it is deleted", async () => {
  await using world = await simulate({ seed: 1 });
  await world.apply(volume("large", "9Gi"));
  await world.apply(volume("small", "2Gi"));
  await untilPhase(world, "large", "Available");
  await world.apply(claim());
  await untilPhase(world, "small", "Bound");
  await world.until(
    "a bound claim",
    async () => (await world.get(PersistentVolumeClaim, "data")).status?.phase === "Bound",
  );
  const { spec, status, metadata } = await world.get(PersistentVolumeClaim, "data");
  expect([spec?.volumeName, status?.capacity, metadata.annotations?.["pv.kubernetes.io/bind-completed"]]).toEqual([
    "small",
    { storage: "2Gi" },
    "yes",
  ]);
  await world.expectQuiet({ hours: 1 });
  await world.delete(PersistentVolume, "small");
  await world.run(10_000);
  expect(await isGone(world, "small")).toBe(false);
  await world.delete(PersistentVolumeClaim, "data");
  await world.until("the end of the volume", () => isGone(world, "small"));
  expect((await world.get(PersistentVolume, "large")).status?.phase).toBe("Available");
});

test("a volume that is kept stays released, and no other claim of its name takes it", async () => {
  await using world = await simulate({ seed: 2 });
  await world.apply(volume("small", "2Gi", { persistentVolumeReclaimPolicy: "Retain" }));
  await world.apply(claim());
  await untilPhase(world, "small", "Bound");
  await world.delete(PersistentVolumeClaim, "data");
  await untilPhase(world, "small", "Released");
  await world.apply(claim());
  await world.run(30_000);
  expect((await world.get(PersistentVolumeClaim, "data")).status?.phase).toBe("Pending");
  expect((await world.get(PersistentVolume, "small")).status?.phase).toBe("Released");
});

test("a claim of a folder grows", async () => {
  await using world = await simulate({ seed: 3 });
  await world.apply(StorageClass({ name: "manual", provisioner: "setpoint.dev/folder", allowVolumeExpansion: true }));
  const provisioned = { "pv.kubernetes.io/provisioned-by": "setpoint.dev/folder" };
  await world.apply(volume("small", "2Gi", { claimRef: { namespace, name: "data" } }, provisioned));
  await world.apply(claim());
  await untilPhase(world, "small", "Bound");
  await world.until(
    "a bound claim",
    async () => (await world.get(PersistentVolumeClaim, "data")).status?.phase === "Bound",
  );
  await world.patch(PersistentVolumeClaim, "data", { spec: { resources: { requests: { storage: "5Gi" } } } });
  await world.until("5Gi", async () => {
    const { status } = await world.get(PersistentVolumeClaim, "data");
    return status?.capacity?.["storage"] === "5Gi";
  });
  expect((await world.get(PersistentVolume, "small")).spec?.capacity).toEqual({ storage: "5Gi" });
});
