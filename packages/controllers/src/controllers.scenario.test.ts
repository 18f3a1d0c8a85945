import {
  ConfigMap,
  Deployment,
  Endpoints,
  EndpointSlice,
  Namespace,
  Node,
  Pod,
  ReplicaSet,
  Secret,
  Service,
  ServiceAccount,
} from "@setpoint/api";
import { isNotFound } from "@setpoint/apimachinery";
import { simulate, type World } from "@setpoint/testing";
import { expect, test } from "vitest";

const minute = 60_000;

function web(replicas: number, image = "web:1"): Deployment {
  const labels = { app: "web" };
  return Deployment({
    name: "web",
    namespace: "default",
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "web", image }] } },
    },
  });
}

async function podsOf(world: World, app: string): Promise<readonly Pod[]> {
  return (await world.list(Pod)).filter((pod) => pod.metadata.labels?.["app"] === app);
}

async function untilAvailable(world: World, replicas: number): Promise<void> {
  await world.until(`${replicas} available pods`, async () => {
    const { status, metadata } = await world.get(Deployment, "web");
    return (
      status?.observedGeneration === metadata.generation &&
      status?.availableReplicas === replicas &&
      status.updatedReplicas === replicas &&
      status.replicas === replicas
    );
  });
}

test("a Deployment runs as many pods as it asks for, spread over the nodes, and then is quiet", async () => {
  await using world = await simulate({ seed: 1 });
  await world.apply(web(3));
  await untilAvailable(world, 3);
  const nodes = new Set((await podsOf(world, "web")).map((pod) => pod.spec?.nodeName));
  expect(nodes.size).toBe(3);
  await world.expectQuiet({ hours: 2 });
});

test("pods that are bound at once are spread, too: the scheduler knows of what it has bound before its cache does", async () => {
  for (let seed = 100; seed < 110; seed++) {
    await using world = await simulate({ seed });
    await world.apply(web(3));
    await world.until("three pods are bound", async () => {
      const pods = await podsOf(world, "web");
      return pods.filter((pod) => pod.spec?.nodeName !== undefined).length === 3;
    });
    const nodes = new Set((await podsOf(world, "web")).map((pod) => pod.spec?.nodeName));
    expect(nodes.size, `seed ${seed}`).toBe(3);
  }
});

test("a Deployment scales down, and a pod deleted by hand comes back under another name", async () => {
  await using world = await simulate({ seed: 2 });
  await world.apply(web(3));
  await untilAvailable(world, 3);
  await world.patch(Deployment, "web", { spec: { replicas: 2 } });
  await untilAvailable(world, 2);
  const [victim] = await podsOf(world, "web");
  await world.delete(Pod, victim?.metadata.name ?? "");
  await world.until("the deleted pod is gone", async () =>
    (await podsOf(world, "web")).every((pod) => pod.metadata.uid !== victim?.metadata.uid),
  );
  await untilAvailable(world, 2);
  expect((await podsOf(world, "web")).length).toBe(2);
});

test("a pod whose label leaves the selector is released by its ReplicaSet, and replaced", async () => {
  await using world = await simulate({ seed: 12 });
  await world.apply(web(1));
  await untilAvailable(world, 1);
  const [leaver] = await podsOf(world, "web");
  const name = leaver?.metadata.name ?? "";
  await world.patch(Pod, name, { metadata: { labels: { app: "other" } } });
  await world.until("another pod runs", async () =>
    (await podsOf(world, "web")).some((pod) => pod.metadata.name !== name),
  );
  // Not until one is available: the status still counts the pod that left.
  await world.settled();
  expect((await world.get(Pod, name)).metadata.ownerReferences ?? []).toEqual([]);
  await world.expectQuiet({ hours: 1 });
});

test("a ReplicaSet reports that its pods are refused, until they are accepted", async () => {
  await using world = await simulate({ seed: 11 });
  const labels = { app: "web" };
  const containers = [{ name: "web", image: "web:1" }];
  const template = { metadata: { labels }, spec: { serviceAccountName: "worker", containers } };
  await world.apply(ReplicaSet({ name: "web", spec: { replicas: 1, selector: { matchLabels: labels }, template } }));
  const failure = async (): Promise<string | undefined> =>
    (await world.get(ReplicaSet, "web")).status?.conditions?.find(({ type }) => type === "ReplicaFailure")?.status;
  await world.until("the refusal is reported", async () => (await failure()) === "True");
  await world.apply(ServiceAccount({ name: "worker" }));
  await world.until("the refusal is over", async () => (await failure()) === undefined);
  expect((await podsOf(world, "web")).length).toBe(1);
});

test("a ReplicaSet whose pods are refused waits between its tries", async () => {
  await using world = await simulate({ seed: 11 });
  const labels = { app: "web" };
  const containers = [{ name: "web", image: "web:1" }];
  const template = { metadata: { labels }, spec: { serviceAccountName: "worker", containers } };
  await world.apply(ReplicaSet({ name: "web", spec: { replicas: 1, selector: { matchLabels: labels }, template } }));
  await world.run(minute);
  const tries = world.trace.filter((line) => line.includes("POST default/pods"));
  expect(tries.length).toBeGreaterThan(2);
  expect(tries.length).toBeLessThan(40);
});

test("a Deployment whose ReplicaSet left its selector makes one of another name", async () => {
  await using world = await simulate({ seed: 12 });
  await world.apply(web(2));
  await untilAvailable(world, 2);
  const [lost] = await world.list(ReplicaSet);
  await world.patch(ReplicaSet, lost?.metadata.name ?? "", { metadata: { labels: { app: "other" } } });
  await world.until("another ReplicaSet runs the pods", async () => {
    const { status } = await world.get(Deployment, "web");
    return status?.collisionCount === 1 && status.availableReplicas === 2;
  });
  const sets = await world.list(ReplicaSet);
  expect(sets).toHaveLength(2);
  expect(sets.find(({ metadata }) => metadata.uid === lost?.metadata.uid)?.metadata.ownerReferences ?? []).toEqual([]);
  await world.expectQuiet({ hours: 2 });
});

test("an update replaces pods one after the other, never with fewer than the wanted number available", async () => {
  await using world = await simulate({ seed: 3 });
  await world.apply(web(3));
  await untilAvailable(world, 3);
  await world.patch(Deployment, "web", {
    spec: { template: { spec: { containers: [{ name: "web", image: "web:2" }] } } },
  });
  let fewest = 3;
  await world.until("the new version everywhere", async () => {
    const pods = await podsOf(world, "web");
    fewest = Math.min(
      fewest,
      pods.filter((pod) => pod.status?.conditions?.some((each) => each.type === "Ready" && each.status === "True"))
        .length,
    );
    return pods.length === 3 && pods.every((pod) => pod.spec?.containers[0]?.image === "web:2");
  });
  await untilAvailable(world, 3);
  expect(fewest).toBe(3);
  const sets = await world.list(ReplicaSet);
  expect(new Set(sets.map((set) => set.spec?.replicas))).toEqual(new Set([0, 3]));
  expect(new Set(sets.map((set) => set.metadata.annotations?.["deployment.kubernetes.io/revision"]))).toEqual(
    new Set(["1", "2"]),
  );
});

test.each([3, 10, 12])("Recreate starts the new pods when the last old one has ended, seed %i", async (seed) => {
  await using world = await simulate({ seed });
  const before = web(2);
  await world.apply({ ...before, spec: { ...before.spec, strategy: { type: "Recreate" } } } as Deployment);
  await untilAvailable(world, 2);
  await world.patch(Deployment, "web", {
    spec: { template: { spec: { containers: [{ name: "web", image: "web:2" }] } } },
  });
  await world.until("pods of the new image alone", async () => {
    const images = (await podsOf(world, "web")).map(({ spec }) => spec?.containers[0]?.image);
    return images.length === 2 && images.every((image) => image === "web:2");
  });
  await untilAvailable(world, 2);
});

test("deleting a Deployment takes its ReplicaSet and pods along", async () => {
  await using world = await simulate({ seed: 4 });
  await world.apply(web(2));
  await untilAvailable(world, 2);
  await world.delete(Deployment, "web");
  await world.until(
    "the end of the pods",
    async () => (await podsOf(world, "web")).length === 0 && (await world.list(ReplicaSet)).length === 0,
  );
});

test("orphaning deletion leaves the pods, without an owner", async () => {
  await using world = await simulate({ seed: 5 });
  await world.apply(web(2));
  await untilAvailable(world, 2);
  const key = { name: "web", namespace: "default" };
  await world.wait(world.client.delete(Deployment, key, { propagationPolicy: "Orphan" }));
  await world.until("the end of the Deployment", async () => (await world.list(Deployment)).length === 0);
  const [set] = await world.list(ReplicaSet);
  expect(set?.metadata.ownerReferences ?? []).toEqual([]);
  expect(await podsOf(world, "web")).toHaveLength(2);
});

test("foreground deletion removes the owner last", async () => {
  await using world = await simulate({ seed: 6 });
  await world.apply(web(2));
  await untilAvailable(world, 2);
  await world.wait(
    world.client.delete(Deployment, { name: "web", namespace: "default" }, { propagationPolicy: "Foreground" }),
  );
  let outlived = false;
  await world.until("the end of the Deployment", async () => {
    const isThere = (await world.list(Deployment)).length > 0;
    if (!isThere && (await world.list(ReplicaSet)).length > 0) outlived = true;
    return !isThere;
  });
  expect(outlived).toBe(false);
});

test("a Service lists its ready pods, and forgets a pod that is going", async () => {
  await using world = await simulate({ seed: 8 });
  await world.apply(web(2));
  await world.apply(
    Service({ name: "web", namespace: "default", spec: { selector: { app: "web" }, ports: [{ port: 80 }] } }),
  );
  const ready = async (): Promise<number> => {
    const slice = (await world.list(EndpointSlice)).find((each) => each.metadata.name === "web-ipv4");
    return slice?.endpoints?.filter((each) => each.conditions?.ready).length ?? 0;
  };
  await world.until("two ready endpoints", async () => (await ready()) === 2);
  expect((await world.get(Endpoints, "web")).subsets?.[0]?.addresses).toHaveLength(2);
  await world.patch(Deployment, "web", { spec: { replicas: 1 } });
  await world.until("one ready endpoint", async () => (await ready()) === 1);
  await world.settled();
  await world.expectQuiet();
});

test("Endpoints do not outlive their Service, and those that a user wrote stay", async () => {
  await using world = await simulate({ seed: 13 });
  await world.apply(
    Service({ name: "web", namespace: "default", spec: { selector: { app: "web" }, ports: [{ port: 80 }] } }),
  );
  await world.apply(Endpoints({ name: "own", namespace: "default", subsets: [] }));
  await world.until("the Service has Endpoints", async () => (await world.list(Endpoints)).length === 2);
  await world.delete(Service, "web");
  await world.until("they are gone", async () => (await world.list(Endpoints)).length === 1);
  expect((await world.list(Endpoints)).map(({ metadata }) => metadata.name)).toEqual(["own"]);
});

test("a Service of 230 pods has three slices, and one that changes writes one of them", async () => {
  await using world = await simulate({ seed: 28 });
  const podOf = (n: number): Pod =>
    Pod({
      name: `far-${String(n).padStart(3, "0")}`,
      namespace: "default",
      labels: { app: "far" },
      // On no node of this world, so that no node writes its status.
      spec: { nodeName: "elsewhere", containers: [{ name: "c", image: "c:1" }] },
    });
  const setReady = (n: number, status: "True" | "False"): Promise<unknown> => {
    const conditions = [{ type: "Ready", status }];
    const podIP = `10.1.${Math.floor(n / 200)}.${n % 200}`;
    const key = { name: podOf(n).metadata.name ?? "", namespace: "default" };
    const patch = { status: { phase: "Running", podIP, podIPs: [{ ip: podIP }], conditions } };
    return world.wait(world.client.patch(Pod, key, patch, { subresource: "status" }));
  };
  for (let n = 0; n < 230; n++) {
    await world.apply(podOf(n));
    await setReady(n, "True");
  }
  await world.apply(
    Service({ name: "far", namespace: "default", spec: { selector: { app: "far" }, ports: [{ port: 80 }] } }),
  );
  const slices = async (): Promise<readonly EndpointSlice[]> =>
    (await world.list(EndpointSlice)).filter((each) => each.metadata.labels?.["kubernetes.io/service-name"] === "far");
  const ready = async (): Promise<number> =>
    (await slices()).flatMap((each) => each.endpoints ?? []).filter((each) => each.conditions?.ready).length;
  await world.until("all endpoints", async () => (await ready()) === 230);
  const before = await slices();
  expect(before.map(({ endpoints }) => endpoints?.length).toSorted((a = 0, b = 0) => a - b)).toEqual([30, 100, 100]);
  await setReady(117, "False");
  await world.until("the change", async () => (await ready()) === 229);
  await world.settled();
  const versions = new Map(before.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
  const written = (await slices()).filter(({ metadata }) => versions.get(metadata.name) !== metadata.resourceVersion);
  expect(written).toHaveLength(1);
  await world.expectQuiet();
});

test("every namespace gets its service account and the cluster's CA; a deleted namespace takes everything along", async () => {
  await using world = await simulate({ seed: 9 });
  await world.apply(Namespace({ name: "team" }));
  const key = { name: "default", namespace: "team" };
  await world.until("the service account", async () =>
    (await world.list(ServiceAccount)).some((each) => each.metadata.namespace === "team"),
  );
  await world.delete(ServiceAccount, key);
  await world.until("the service account again", async () =>
    (await world.list(ServiceAccount)).some((each) => each.metadata.namespace === "team"),
  );
  await world.apply(Secret({ name: "token", namespace: "team", stringData: { a: "b" } }));
  await world.delete(Namespace, "team");
  await world.until(
    "the end of the namespace",
    async () => !(await world.list(Namespace)).some((each) => each.metadata.name === "team"),
  );
  await expect(world.get(Secret, { name: "token", namespace: "team" })).rejects.toSatisfy(isNotFound);
});

test("a namespace waits for a finalizer and says so", async () => {
  await using world = await simulate({ seed: 10 });
  await world.apply(Namespace({ name: "team" }));
  await world.apply(ConfigMap({ name: "held", namespace: "team", finalizers: ["example.com/hold"] }));
  await world.delete(Namespace, "team");
  await world.run(minute);
  const { status } = await world.get(Namespace, "team");
  expect(status?.phase).toBe("Terminating");
  expect(status?.conditions?.find((each) => each.type === "NamespaceContentRemaining")?.message).toContain(
    "configmaps. has 1 resource instances",
  );
  await world.patch(ConfigMap, { name: "held", namespace: "team" }, { metadata: { finalizers: null } });
  await world.until(
    "the end of the namespace",
    async () => !(await world.list(Namespace)).some((each) => each.metadata.name === "team"),
  );
});

test("a namespace that has waited for long ends within seconds of the last finalizer", async () => {
  await using world = await simulate({ seed: 30 });
  await world.apply(Namespace({ name: "team" }));
  await world.apply(ConfigMap({ name: "held", namespace: "team", finalizers: ["example.com/hold"] }));
  await world.delete(Namespace, "team");
  await world.run(10 * minute);
  await world.patch(ConfigMap, { name: "held", namespace: "team" }, { metadata: { finalizers: null } });
  const isGone = async (): Promise<boolean> =>
    (await world.list(Namespace)).every((each) => each.metadata.name !== "team");
  await world.until("the end of the namespace", isGone, { within: 10_000 });
});

test("a pod that fits no node says why, and is bound when one comes to fit", async () => {
  await using world = await simulate({ seed: 11 });
  await world.apply(
    Pod({
      name: "picky",
      namespace: "default",
      spec: { nodeSelector: { disk: "ssd" }, containers: [{ name: "c", image: "c:1" }] },
    }),
  );
  await world.run(5_000);
  const condition = (await world.get(Pod, "picky")).status?.conditions?.find((each) => each.type === "PodScheduled");
  expect(condition).toMatchObject({
    status: "False",
    reason: "Unschedulable",
    message:
      "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
  });
  const [node] = await world.list(Node);
  await world.patch(Node, { name: node?.metadata.name ?? "" }, { metadata: { labels: { disk: "ssd" } } });
  await world.until(
    "the pod to be bound",
    async () => (await world.get(Pod, "picky")).spec?.nodeName === node?.metadata.name,
  );
});

test("equal seeds make equal runs", async () => {
  const run = async (): Promise<string> => {
    await using world = await simulate({ seed: 12 });
    await world.apply(web(3));
    await untilAvailable(world, 3);
    return world.traceHash();
  };
  expect(await run()).toBe(await run());
});
