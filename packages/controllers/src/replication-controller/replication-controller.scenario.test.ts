import { Pod, ReplicationController, ServiceAccount } from "@setpoint/api";
import { simulate, type World } from "@setpoint/testing";
import { expect, test } from "vitest";

const selector = { app: "web" };

function web(replicas: number, pod: object = {}): ReplicationController {
  const spec = { containers: [{ name: "web", image: "web:1" }], ...pod };
  return ReplicationController({
    name: "web",
    namespace: "default",
    spec: { replicas, selector, template: { metadata: { labels: selector }, spec } },
  });
}

async function untilReady(world: World, replicas: number): Promise<void> {
  await world.until(`${replicas} ready pods`, async () => {
    const { status, metadata } = await world.get(ReplicationController, "web");
    return (
      status?.observedGeneration === metadata.generation &&
      status?.replicas === replicas &&
      (status.readyReplicas ?? 0) === replicas
    );
  });
}

test("a ReplicationController adopts a pod that matches, and releases and replaces one that leaves", async () => {
  await using world = await simulate({ seed: 1 });
  const containers = [{ name: "web", image: "web:1" }];
  await world.apply(Pod({ name: "first", namespace: "default", labels: selector, spec: { containers } }));
  await world.apply(web(2));
  await untilReady(world, 2);
  const owned = (await world.list(Pod)).filter(({ metadata }) => metadata.ownerReferences?.[0]?.name === "web");
  expect(owned.map(({ metadata }) => metadata.name)).toContain("first");
  await world.patch(Pod, "first", { metadata: { labels: { app: "other" } } });
  await world.until("a third pod", async () => (await world.list(Pod)).length === 3);
  await untilReady(world, 2);
  expect((await world.get(Pod, "first")).metadata.ownerReferences ?? []).toEqual([]);
  await world.expectQuiet({ hours: 1 });
});

test("a ReplicationController reports refused pods, and nothing of it when they are accepted", async () => {
  await using world = await simulate({ seed: 2 });
  await world.apply(web(1, { serviceAccountName: "worker" }));
  const failures = async (): Promise<readonly unknown[]> =>
    (await world.get(ReplicationController, "web")).status?.conditions ?? [];
  await world.until("the refusal is reported", async () => (await failures()).length === 1);
  expect(await failures()).toMatchObject([{ type: "ReplicaFailure", status: "True", reason: "FailedCreate" }]);
  await world.apply(ServiceAccount({ name: "worker" }));
  await untilReady(world, 1);
  expect(await failures()).toEqual([]);
});

test("a ReplicationController scales down", async () => {
  await using world = await simulate({ seed: 3 });
  await world.apply(web(3));
  await untilReady(world, 3);
  await world.patch(ReplicationController, "web", { spec: { replicas: 1 } });
  await untilReady(world, 1);
  await world.until("one pod is left", async () => (await world.list(Pod)).length === 1);
});

test("a ReplicationController corrects a status that another client has written", async () => {
  await using world = await simulate({ seed: 4 });
  await world.apply(web(2));
  await untilReady(world, 2);
  const wrong = { status: { readyReplicas: 0, availableReplicas: 0 } };
  const key = { name: "web", namespace: "default" };
  await world.wait(world.client.patch(ReplicationController, key, wrong, { subresource: "status" }));
  await untilReady(world, 2);
});
