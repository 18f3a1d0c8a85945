import { Deployment, ReplicaSet } from "@setpoint/api";
import { simulate, type World } from "@setpoint/testing";
import { expect, test } from "vitest";

const labels = { app: "web" };
const revision = "deployment.kubernetes.io/revision";

const templateOf = (image: string, label: object = {}) => ({
  metadata: { labels: { ...labels, ...label } },
  spec: { containers: [{ name: "web", image }] },
});

const web = (spec: object = {}): Deployment =>
  Deployment({
    name: "web",
    namespace: "default",
    spec: { replicas: 2, selector: { matchLabels: labels }, template: templateOf("web:1"), ...spec },
  });

async function untilAvailable(world: World, replicas: number): Promise<void> {
  await world.until(`${replicas} available pods`, async () => {
    const { status, metadata } = await world.get(Deployment, "web");
    const isSeen = status?.observedGeneration === metadata.generation;
    return isSeen && status?.availableReplicas === replicas && status.updatedReplicas === replicas;
  });
}

async function reasonOf(world: World, type: string): Promise<string | undefined> {
  const { status } = await world.get(Deployment, "web");
  return status?.conditions?.find((each) => each.type === type)?.reason;
}

test("a paused Deployment scales, and makes no ReplicaSet of a new template before it goes on", async () => {
  await using world = await simulate({ seed: 41 });
  await world.apply(web());
  await untilAvailable(world, 2);
  await world.patch(Deployment, "web", { spec: { paused: true, replicas: 3, template: templateOf("web:2") } });
  await world.until("three replicas", async () => (await world.list(ReplicaSet))[0]?.status?.availableReplicas === 3);
  await world.settled();
  expect(await world.list(ReplicaSet)).toHaveLength(1);
  expect(await reasonOf(world, "Progressing")).toBe("DeploymentPaused");
  expect((await world.get(Deployment, "web")).status?.updatedReplicas ?? 0).toBe(0);
  await world.patch(Deployment, "web", { spec: { paused: false } });
  await untilAvailable(world, 3);
  expect(await world.list(ReplicaSet)).toHaveLength(2);
});

test("a rollback takes the old ReplicaSet, under the next revision, with its cause", async () => {
  await using world = await simulate({ seed: 42 });
  await world.apply({
    ...web(),
    metadata: { ...web().metadata, annotations: { "kubernetes.io/change-cause": "one" } },
  });
  await untilAvailable(world, 2);
  const [first] = await world.list(ReplicaSet);
  expect(first?.metadata.annotations?.["kubernetes.io/change-cause"]).toBe("one");
  await world.patch(Deployment, "web", { spec: { template: templateOf("web:2") } });
  await untilAvailable(world, 2);
  await world.patch(Deployment, "web", { spec: { template: templateOf("web:1") } });
  await untilAvailable(world, 2);
  const again = await world.get(ReplicaSet, first?.metadata.name ?? "");
  expect(again.spec?.replicas).toBe(2);
  expect(again.metadata.annotations?.[revision]).toBe("3");
  expect(again.metadata.annotations?.["deployment.kubernetes.io/revision-history"]).toBe("1");
  expect((await world.get(Deployment, "web")).metadata.annotations?.[revision]).toBe("3");
});

test("a ReplicaSet of a revision beyond 2^53 is adopted, and the next revision is one more", async () => {
  await using world = await simulate({ seed: 43 });
  const name = "found";
  const label = { pod: "found" };
  const spec = {
    replicas: 1,
    selector: { matchLabels: { ...labels, ...label } },
    template: templateOf("web:0", label),
  };
  const annotations = { [revision]: "3546343826724305832" };
  await world.apply(ReplicaSet({ name, namespace: "default", labels, annotations, spec }));
  await world.apply(web());
  await untilAvailable(world, 2);
  expect((await world.get(Deployment, "web")).metadata.annotations?.[revision]).toBe("3546343826724305833");
  await world.until("the end of the old pods", async () => (await world.get(ReplicaSet, name)).status?.replicas === 0);
  await world.expectQuiet({ hours: 1 });
});

test("history keeps as many ReplicaSets as its limit, the newest", async () => {
  await using world = await simulate({ seed: 44 });
  await world.apply(web({ revisionHistoryLimit: 1 }));
  await untilAvailable(world, 2);
  for (const image of ["web:2", "web:3"]) {
    await world.patch(Deployment, "web", { spec: { template: templateOf(image) } });
    await untilAvailable(world, 2);
  }
  await world.until("two ReplicaSets", async () => (await world.list(ReplicaSet)).length === 2);
  const images = (await world.list(ReplicaSet)).map(({ spec }) => spec?.template?.spec?.containers[0]?.image);
  expect(new Set(images)).toEqual(new Set(["web:2", "web:3"]));
});

test("a status that another client wrote is corrected", async () => {
  await using world = await simulate({ seed: 45 });
  await world.apply(web());
  await untilAvailable(world, 2);
  await world.settled();
  const key = { name: "web", namespace: "default" };
  await world.wait(
    world.client.patch(Deployment, key, { status: { availableReplicas: 0 } }, { subresource: "status" }),
  );
  await untilAvailable(world, 2);
});

test("the deadline counts from the last progress", async () => {
  await using world = await simulate({ seed: 46 });
  await world.apply(web({ progressDeadlineSeconds: 300 }));
  await untilAvailable(world, 2);
  await world.run(600_000);
  // No node has such a label, so that the pod of the new template waits for ever.
  const template = templateOf("web:2");
  const stuck = { ...template, spec: { ...template.spec, nodeSelector: { no: "where" } } };
  await world.patch(Deployment, "web", { spec: { template: stuck } });
  await world.run(200_000);
  expect(await reasonOf(world, "Progressing")).toBe("ReplicaSetUpdated");
  await world.run(200_000);
  expect(await reasonOf(world, "Progressing")).toBe("ProgressDeadlineExceeded");
  await world.expectQuiet({ hours: 1 });
});

test("a ReplicaSet whose template a person edits is replaced by one of another name", async () => {
  await using world = await simulate({ seed: 47 });
  await world.apply(web());
  await untilAvailable(world, 2);
  const [edited] = await world.list(ReplicaSet);
  await world.patch(ReplicaSet, edited?.metadata.name ?? "", {
    spec: { template: { spec: { terminationGracePeriodSeconds: 31 } } },
  });
  await world.run(1_000);
  await untilAvailable(world, 2);
  await world.settled();
  const sets = await world.list(ReplicaSet);
  expect(sets).toHaveLength(2);
  for (const { metadata, spec } of sets) expect(spec?.replicas).toBe(metadata.uid === edited?.metadata.uid ? 0 : 2);
});
