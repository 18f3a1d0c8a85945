import { Deployment, Job, Pod, PodDisruptionBudget } from "@setpoint/api";
import { isApiError } from "@setpoint/apimachinery";
import { evictPod } from "@setpoint/client";
import { simulate, type World } from "@setpoint/testing";
import { expect, test } from "vitest";

const labels = { app: "web" };
const namespace = "default";
const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } };
const budget = (spec: object): PodDisruptionBudget =>
  PodDisruptionBudget({ name: "web", namespace, spec: { selector: { matchLabels: labels }, ...spec } });
const web = (replicas: number): Deployment =>
  Deployment({ name: "web", namespace, spec: { replicas, selector: { matchLabels: labels }, template } });

async function untilAllowed(world: World, allowed: number): Promise<void> {
  await world.until(`a budget that allows ${allowed}`, async () => {
    const { metadata, status } = await world.get(PodDisruptionBudget, "web");
    return status?.observedGeneration === metadata.generation && status?.disruptionsAllowed === allowed;
  });
}

/** The causes of the refusal; "evicted" when there is none. */
async function evict(world: World, name: string): Promise<string> {
  return world.wait(
    evictPod(world.client, { name, namespace }).then(
      () => "evicted",
      (error: unknown) => {
        if (!isApiError(error)) throw error;
        return `${error.code} ${error.status.details?.causes?.map(({ message }) => message).join() ?? ""}`;
      },
    ),
  );
}

const names = async (world: World): Promise<readonly string[]> =>
  (await world.list(Pod)).map(({ metadata }) => metadata.name).toSorted();

test("evictions of a Deployment's pods go one by one, as the budget allows", async () => {
  await using world = await simulate({ seed: 1 });
  await world.apply(web(3));
  await world.apply(budget({ maxUnavailable: 1 }));
  await untilAllowed(world, 1);
  const [first = "", second = "", third = ""] = await names(world);
  expect(await evict(world, first)).toBe("evicted");
  // Before and after the controller has seen the pod go, the server gives another reason.
  expect(await evict(world, second)).toMatch(/^429 The disruption budget web (needs 2 healthy pods|does not allow)/);
  await untilAllowed(world, 1);
  expect(await evict(world, second)).toBe("evicted");
  await untilAllowed(world, 1);
  expect(await evict(world, third)).toBe("evicted");
  await untilAllowed(world, 1);
  const { status } = await world.get(PodDisruptionBudget, "web");
  expect(status).toMatchObject({ currentHealthy: 3, desiredHealthy: 2, expectedPods: 3 });
  expect(status?.disruptedPods ?? {}).toEqual({});
  expect(status?.conditions).toMatchObject([
    { type: "DisruptionAllowed", status: "True", reason: "SufficientPods", observedGeneration: 1 },
  ]);
  await world.expectQuiet({ hours: 2 });
});

test("a budget counts the scale that is wanted, not the pods that are there", async () => {
  await using world = await simulate({ seed: 2 });
  await world.apply(web(3));
  await world.apply(budget({ minAvailable: "60%" }));
  await untilAllowed(world, 1);
  await world.patch(Deployment, "web", { spec: { replicas: 10 } });
  await untilAllowed(world, 4);
  await world.patch(Deployment, "web", { spec: { replicas: 2 } });
  await untilAllowed(world, 0);
  await world.expectQuiet({ hours: 2 });
});

test("a budget for pods of a kind without scale allows nothing, and names the kind", async () => {
  await using world = await simulate({ seed: 3 });
  const spec = { ...template.spec, restartPolicy: "Never" } as const;
  // Managed by another controller: ours would release a pod that has not its labels.
  const managedBy = "example.com/queue";
  await world.apply(Job({ name: "batch", namespace, spec: { managedBy, template: { spec } } }));
  const { uid } = (await world.get(Job, "batch")).metadata;
  const ownerReferences = [{ apiVersion: "batch/v1", kind: "Job", name: "batch", uid, controller: true }];
  await world.apply(Pod({ name: "web", namespace, labels, ownerReferences, spec: template.spec }));
  await world.apply(budget({ maxUnavailable: 1 }));
  await world.until("a condition", async () => {
    const { status } = await world.get(PodDisruptionBudget, "web");
    return status?.conditions?.[0]?.reason === "SyncFailed";
  });
  const { status } = await world.get(PodDisruptionBudget, "web");
  expect(status?.conditions?.[0]?.message).toBe("jobs.batch does not implement the scale subresource");
  expect(status?.disruptionsAllowed).toBe(0);
});

test("an evicted pod that is not deleted counts again after two minutes", async () => {
  await using world = await simulate({ seed: 4 });
  await world.apply(web(2));
  await world.apply(budget({ maxUnavailable: 1 }));
  await untilAllowed(world, 1);
  const [pod] = await world.list(Pod);
  const { name = "", creationTimestamp } = pod?.metadata ?? {};
  const disruptedPods = { [name]: creationTimestamp };
  const patch = { status: { disruptionsAllowed: 0, disruptedPods } };
  await world.wait(
    world.client.patch(PodDisruptionBudget, { name: "web", namespace }, patch, { subresource: "status" }),
  );
  await world.run(100_000);
  expect((await world.get(PodDisruptionBudget, "web")).status).toMatchObject({ currentHealthy: 1 });
  await untilAllowed(world, 1);
  expect((await world.get(PodDisruptionBudget, "web")).status?.disruptedPods ?? {}).toEqual({});
});
