import { ControllerRevision, DaemonSet, Node, Pod } from "@setpoint/api";
import { simulate, type World } from "@setpoint/testing";
import { expect, test } from "vitest";

const labels = { app: "agent" };

function agent(image = "agent:1", more: object = {}, pod: object = {}): DaemonSet {
  const spec = { containers: [{ name: "agent", image }], ...pod };
  return DaemonSet({
    name: "agent",
    namespace: "default",
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec }, ...more },
  });
}

async function untilAvailable(world: World, nodes: number): Promise<void> {
  await world.until(`${nodes} available pods of the present template`, async () => {
    const { status, metadata } = await world.get(DaemonSet, "agent");
    return (
      status?.observedGeneration === metadata.generation &&
      status?.desiredNumberScheduled === nodes &&
      status.currentNumberScheduled === nodes &&
      (status.updatedNumberScheduled ?? 0) === nodes &&
      (status.numberAvailable ?? 0) === nodes
    );
  });
}

const places = async (world: World): Promise<readonly string[]> =>
  (await world.list(Pod)).map((pod) => `${pod.spec?.nodeName} ${pod.spec?.containers[0]?.image}`).toSorted();

const nodeNames = async (world: World): Promise<readonly string[]> =>
  (await world.list(Node)).map(({ metadata }) => metadata.name).toSorted();

test("a DaemonSet runs one pod on each node, also on one that is cordoned, and then is quiet", async () => {
  await using world = await simulate({ seed: 1 });
  const nodes = await nodeNames(world);
  await world.patch(Node, nodes[0] ?? "", { spec: { unschedulable: true } });
  await world.apply(agent());
  await untilAvailable(world, nodes.length);
  expect(await places(world)).toEqual(nodes.map((node) => `${node} agent:1`));
  await world.expectQuiet({ hours: 2 });
});

test("a DaemonSet follows the labels and the taints of nodes", async () => {
  await using world = await simulate({ seed: 2 });
  const [first = "", second = ""] = await nodeNames(world);
  await world.apply(agent("agent:1", {}, { nodeSelector: { disk: "fast" } }));
  await untilAvailable(world, 0);
  for (const node of [first, second]) await world.patch(Node, node, { metadata: { labels: { disk: "fast" } } });
  await untilAvailable(world, 2);
  await world.patch(Node, first, { metadata: { labels: { disk: "slow" } } });
  await untilAvailable(world, 1);
  await world.patch(Node, second, { spec: { taints: [{ key: "dedicated", value: "db", effect: "NoExecute" }] } });
  await untilAvailable(world, 0);
  await world.until("no pod is left", async () => (await world.list(Pod)).length === 0);
});

test("an update replaces one pod after the other, and a rollback returns the old revision", async () => {
  await using world = await simulate({ seed: 3 });
  const nodes = await nodeNames(world);
  await world.apply(agent("agent:1"));
  await untilAvailable(world, nodes.length);
  const before = await world.list(ControllerRevision);
  await world.apply(agent("agent:2"));
  await untilAvailable(world, nodes.length);
  expect(await places(world)).toEqual(nodes.map((node) => `${node} agent:2`));
  await world.apply(agent("agent:1"));
  await untilAvailable(world, nodes.length);
  const history = await world.list(ControllerRevision);
  expect(history).toHaveLength(2);
  const restored = history.find(({ metadata }) => metadata.uid === before[0]?.metadata.uid);
  expect(restored?.revision).toBe(3);
});

test("an update with a surge keeps every node served", async () => {
  await using world = await simulate({ seed: 4 });
  const nodes = await nodeNames(world);
  const updateStrategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } as const;
  await world.apply(agent("agent:1", { updateStrategy }));
  await untilAvailable(world, nodes.length);
  await world.apply(agent("agent:2", { updateStrategy }));
  await world.until("every pod is new, and no node was without a ready one", async () => {
    const { status } = await world.get(DaemonSet, "agent");
    expect(status?.numberUnavailable ?? 0).toBe(0);
    return status?.updatedNumberScheduled === nodes.length && (await world.list(Pod)).length === nodes.length;
  });
});

test("OnDelete updates a pod when a user deletes it", async () => {
  await using world = await simulate({ seed: 5 });
  const nodes = await nodeNames(world);
  const updateStrategy = { type: "OnDelete" } as const;
  await world.apply(agent("agent:1", { updateStrategy }));
  await untilAvailable(world, nodes.length);
  await world.apply(agent("agent:2", { updateStrategy }));
  await world.run(60_000);
  expect(await places(world)).toEqual(nodes.map((node) => `${node} agent:1`));
  const [pod] = await world.list(Pod);
  await world.delete(Pod, pod?.metadata.name ?? "");
  await world.until("one pod is new", async () => (await places(world)).some((each) => each.endsWith("agent:2")));
});

test("a failed daemon pod is replaced", async () => {
  await using world = await simulate({ seed: 6 });
  const nodes = await nodeNames(world);
  await world.apply(agent());
  await untilAvailable(world, nodes.length);
  const [pod] = await world.list(Pod);
  const { uid = "", name = "" } = pod?.metadata ?? {};
  const failed = { status: { phase: "Failed" } };
  await world.wait(world.client.patch(Pod, { name, namespace: "default" }, failed, { subresource: "status" }));
  await world.until("the failed pod is gone", async () =>
    (await world.list(Pod)).every(({ metadata }) => metadata.uid !== uid),
  );
  await untilAvailable(world, nodes.length);
});
