import { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from "@setpoint/api";
import { simulate, type World } from "@setpoint/testing";
import { expect, test } from "vitest";

const labels = { app: "db" };

function database(replicas: number, image = "db:1", more: object = {}): StatefulSet {
  return StatefulSet({
    name: "db",
    namespace: "default",
    spec: {
      replicas,
      serviceName: "db",
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "db", image }] } },
      volumeClaimTemplates: [
        PersistentVolumeClaim({
          name: "data",
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
        }),
      ],
      ...more,
    },
  });
}

async function untilReady(world: World, replicas: number): Promise<void> {
  await world.until(`${replicas} ready pods of the present template`, async () => {
    const { status, metadata } = await world.get(StatefulSet, "db");
    return (
      status?.observedGeneration === metadata.generation &&
      status?.replicas === replicas &&
      status.readyReplicas === replicas &&
      status.currentRevision === status.updateRevision
    );
  });
}

const images = async (world: World): Promise<readonly string[]> =>
  (await world.list(Pod)).map((pod) => `${pod.metadata.name} ${pod.spec?.containers[0]?.image}`).toSorted();

test("a StatefulSet starts its pods in order, each with its claim, and then is quiet", async () => {
  await using world = await simulate({ seed: 1 });
  await world.apply(database(3));
  await untilReady(world, 3);
  const pods = (await world.list(Pod)).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  expect(pods.map((pod) => pod.metadata.name)).toEqual(["db-0", "db-1", "db-2"]);
  const started = pods.map((pod) => pod.metadata.creationTimestamp ?? "");
  expect(started.every((at, i) => i === 0 || (started[i - 1] ?? "") <= at)).toBe(true);
  expect(pods.map((pod) => [pod.spec?.hostname, pod.spec?.subdomain])).toContainEqual(["db-1", "db"]);
  const claims = (await world.list(PersistentVolumeClaim)).map(({ metadata }) => metadata.name).toSorted();
  expect(claims).toEqual(["data-db-0", "data-db-1", "data-db-2"]);
  await world.expectQuiet({ hours: 2 });
});

test("a StatefulSet shrinks from the highest ordinal, keeps the claims, and finds them again", async () => {
  await using world = await simulate({ seed: 2 });
  await world.apply(database(3));
  await untilReady(world, 3);
  await world.patch(StatefulSet, "db", { spec: { replicas: 1 } });
  await untilReady(world, 1);
  expect(await images(world)).toEqual(["db-0 db:1"]);
  expect(await world.list(PersistentVolumeClaim)).toHaveLength(3);
  await world.patch(StatefulSet, "db", { spec: { replicas: 2 } });
  await untilReady(world, 2);
  expect(await world.list(PersistentVolumeClaim)).toHaveLength(3);
});

test("an update goes from the highest ordinal to the partition, and a rollback returns the old revision", async () => {
  await using world = await simulate({ seed: 3 });
  const updateStrategy = { type: "RollingUpdate", rollingUpdate: { partition: 1 } } as const;
  await world.apply(database(3, "db:1", { updateStrategy }));
  await untilReady(world, 3);
  await world.apply(database(3, "db:2", { updateStrategy }));
  await world.until("two pods are new", async () => {
    const { status } = await world.get(StatefulSet, "db");
    return status?.updatedReplicas === 2 && status.readyReplicas === 3;
  });
  expect(await images(world)).toEqual(["db-0 db:1", "db-1 db:2", "db-2 db:2"]);
  await world.delete(Pod, "db-0");
  await world.until("the deleted pod is back with its old template", async () => {
    const { status } = await world.get(StatefulSet, "db");
    return (await images(world)).includes("db-0 db:1") && status?.readyReplicas === 3;
  });
  await world.apply(database(3, "db:1", { updateStrategy }));
  await untilReady(world, 3);
  expect(await images(world)).toEqual(["db-0 db:1", "db-1 db:1", "db-2 db:1"]);
  expect(await world.list(ControllerRevision)).toHaveLength(2);
});

test("claims go with their pod or with the set when the set says so", async () => {
  await using world = await simulate({ seed: 4 });
  const policy = { whenDeleted: "Delete", whenScaled: "Delete" };
  await world.apply(database(2, "db:1", { persistentVolumeClaimRetentionPolicy: policy }));
  await untilReady(world, 2);
  await world.patch(StatefulSet, "db", { spec: { replicas: 1 } });
  await world.until("the claim of the second pod is gone", async () =>
    (await world.list(PersistentVolumeClaim)).every(({ metadata }) => metadata.name === "data-db-0"),
  );
  await world.delete(StatefulSet, "db");
  await world.until("the last claim is gone", async () => (await world.list(PersistentVolumeClaim)).length === 0);
});

test("a pod waits for the end of a claim that is being deleted, and gets a new one", async () => {
  await using world = await simulate({ seed: 6 });
  await world.apply(database(2));
  await untilReady(world, 2);
  await world.patch(StatefulSet, "db", { spec: { replicas: 1 } });
  await untilReady(world, 1);
  await world.patch(PersistentVolumeClaim, "data-db-1", { metadata: { finalizers: ["test.setpoint.dev/hold"] } });
  const { uid } = (await world.get(PersistentVolumeClaim, "data-db-1")).metadata;
  await world.delete(PersistentVolumeClaim, "data-db-1");
  await world.patch(StatefulSet, "db", { spec: { replicas: 2 } });
  await world.run(60_000);
  expect(await images(world)).toEqual(["db-0 db:1"]);
  await world.patch(PersistentVolumeClaim, "data-db-1", { metadata: { finalizers: null } });
  await untilReady(world, 2);
  expect((await world.get(PersistentVolumeClaim, "data-db-1")).metadata.uid).not.toBe(uid);
});

test("a pod whose labels leave the selector is released and replaced", async () => {
  await using world = await simulate({ seed: 5 });
  await world.apply(database(1, "db:1", { volumeClaimTemplates: [] }));
  await untilReady(world, 1);
  await world.patch(Pod, "db-0", { metadata: { labels: { app: "other" } } });
  await world.until("the pod has no owner", async () => {
    const { metadata } = await world.get(Pod, "db-0");
    return (metadata.ownerReferences ?? []).length === 0;
  });
});

test("a StatefulSet's status that another client wrote is corrected", async () => {
  await using world = await simulate({ seed: 57 });
  await world.apply(database(1));
  const isReady = async (): Promise<boolean> => (await world.get(StatefulSet, "db")).status?.readyReplicas === 1;
  await world.until("the member is ready", isReady);
  await world.settled();
  const key = { name: "db", namespace: "default" };
  await world.wait(world.client.patch(StatefulSet, key, { status: { readyReplicas: 0 } }, { subresource: "status" }));
  await world.until("the status is right again", isReady);
});
