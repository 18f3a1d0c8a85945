import { PersistentVolumeClaim, Pod } from "@setpoint/api";
import { isNotFound } from "@setpoint/apimachinery";
import { simulate, type World } from "@setpoint/testing";
import { expect, test } from "vitest";

const namespace = "default";
const name = "data";

/** A pod that uses the claim. Nobody runs it: what it is at is written here. */
async function createPod(world: World, nodeName: string | undefined, phase: "Pending" | "Succeeded" | "Failed") {
  const spec = {
    ...(nodeName === undefined ? { nodeSelector: { none: "here" } } : { nodeName }),
    volumes: [{ name, persistentVolumeClaim: { claimName: name } }],
    containers: [{ name: "main", image: "main:1" }],
  };
  await world.apply(Pod({ name: "user", namespace, spec }));
  const written = world.client.patch(
    Pod,
    { name: "user", namespace },
    { status: { phase } },
    { subresource: "status" },
  );
  await world.wait(written);
}

async function isThere(world: World): Promise<boolean> {
  return world.get(PersistentVolumeClaim, name).then(
    () => true,
    (error: unknown) => {
      if (isNotFound(error)) return false;
      throw error;
    },
  );
}

// As a genuine cluster does: its node may still have the volume of a pod that has ended.
test.each([
  ["that has succeeded on its node", "elsewhere", "Succeeded", true],
  ["that has failed on its node", "elsewhere", "Failed", true],
  ["that no node has taken", undefined, "Pending", false],
] as const)("a pod %s keeps a deleted claim, or not", async (_, nodeName, phase, keeps) => {
  await using world = await simulate({ seed: 1 });
  const spec = { accessModes: ["ReadWriteOnce"] as const, resources: { requests: { storage: "1Gi" } } };
  await world.apply(PersistentVolumeClaim({ name, namespace, spec }));
  await createPod(world, nodeName, phase);
  await world.delete(PersistentVolumeClaim, name);
  await world.run(20_000);
  expect(await isThere(world)).toBe(keeps);
  await world.wait(world.client.delete(Pod, { name: "user", namespace }, { gracePeriodSeconds: 0 }));
  await world.until("the end of the claim", async () => !(await isThere(world)));
});
