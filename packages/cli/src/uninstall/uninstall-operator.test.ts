import { ClusterRole, ConfigMap, CustomResourceDefinition, Deployment, Lease, Namespace } from "@setpoint/api";
import { RestMapping } from "@setpoint/client";
import { sleep } from "@setpoint/host";
import { controller, defineKind, defineOperator } from "setpoint";
import { installManifests } from "setpoint/install";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { ownPlane } from "../own-plane.fixture.ts";
import { nothingThere, planUninstall, uninstallOperator } from "./uninstall-operator.ts";

const { host, client } = await ownPlane({ controllers: true });

const Toy = defineKind({
  group: "uninstall.setpoint.dev",
  version: "v1",
  kind: "Toy",
  spec: z.object({ color: z.string() }),
});
const toys = controller(Toy, { owns: [ConfigMap], async reconcile() {}, async cleanup() {} });
const operator = defineOperator({ name: "toys", controllers: [toys] });
const namespace = "toys-system";

beforeAll(async () => {
  const mapping = new RestMapping(client, { clock: host.clock });
  for (const object of installManifests(operator, { image: "toys", namespace })) {
    await client.apply(await mapping.ofObject(object), object, { fieldManager: "test" });
  }
  const created = async (): Promise<unknown> => {
    const toy = Toy({ name: "duck", namespace: "default", spec: { color: "yellow" } });
    return client.create(Toy, {
      ...toy,
      metadata: { ...toy.metadata, finalizers: [toys.finalizer, "example.com/mine"] },
    });
  };
  while (
    await created().then(
      () => false,
      () => true,
    )
  )
    await sleep(host.clock, 20);
});

const options = { operator, client, clock: host.clock, namespace, withKinds: false };

test("an uninstall says first what would go and what would stay, and does nothing", async () => {
  const sentences = await planUninstall(options);
  expect(sentences).toContain("Toy default/duck stays; nobody cleans up after it when it is deleted");
  expect(sentences).toContain("ClusterRole toys-operator is deleted");
  expect(sentences.join()).not.toContain("CustomResourceDefinition");
  expect(
    (await client.get(Deployment, { name: "toys-operator", namespace })).metadata.deletionTimestamp,
  ).toBeUndefined();
});

test("an uninstall waits for the operator's lease, and leaves neither its finalizers nor its rights", async () => {
  const lease = Lease({
    name: "toys",
    namespace,
    spec: {
      holderIdentity: "toys-1",
      renewTime: new Date(host.clock.now()).toISOString().replace("Z", "000Z"),
      leaseDurationSeconds: 1,
    },
  });
  await client.create(Lease, lease);
  const done: string[] = [];
  for await (const line of uninstallOperator(options)) done.push(line);
  expect(done[0]).toBe("Deployment toys-system/toys-operator is deleted");
  expect(done).toContain("1 object is free of the operator's finalizers");
  expect((await client.get(Toy, { name: "duck", namespace: "default" })).metadata.finalizers).toEqual([
    "example.com/mine",
  ]);
  await expect(client.get(ClusterRole, { name: "toys-operator" })).rejects.toMatchObject({ code: 404 });
  await client.get(Namespace, { name: namespace });
  await client.get(CustomResourceDefinition, { name: "toys.uninstall.setpoint.dev" });
  expect(await planUninstall(options)).toEqual([]);
  expect(nothingThere(options)).toBe(
    'Nothing of the operator "toys" is there: no Deployment in namespace "toys-system", no finalizers, no rights; its kinds were not looked for: --kinds does that.',
  );
});
