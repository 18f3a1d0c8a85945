import { Job, Pod } from "@setpoint/api";
import { isNotFound } from "@setpoint/apimachinery";
import { type ProgramModel, simulate, type World } from "@setpoint/testing";
import { expect, test } from "vitest";

/**
 * Ends 3 s after its start: with 1 when its image is `fails` or its index is in `failing`, otherwise with 0.
 */
function shortProgram(failing: readonly string[] = []): ProgramModel {
  return {
    runs: () => true,
    start({ host, image, podName, exited, ready }) {
      ready(true);
      const code = image === "fails" || failing.some((index) => podName.startsWith(`pi-${index}-`)) ? 1 : 0;
      const timer = host.clock.setTimer(() => exited(code), 3_000);
      const end = (): void => {
        timer.cancel();
        exited(137);
      };
      return { terminate: end, kill: end };
    },
  };
}

type Spec = Partial<NonNullable<Job["spec"]>>;

function work(spec: Spec, image = "works"): Job {
  const template = { spec: { restartPolicy: "Never" as const, containers: [{ name: "main", image }] } };
  return Job({ name: "pi", namespace: "default", spec: { template, ...spec } });
}

async function hasCondition(world: World, type: string): Promise<boolean> {
  const { status } = await world.get(Job, "pi");
  return status?.conditions?.some((each) => each.type === type && each.status === "True") === true;
}

test("a Job runs its completions, two at once, counts each once, and then is quiet", async () => {
  await using world = await simulate({ seed: 1, models: [shortProgram()] });
  await world.apply(work({ completions: 5, parallelism: 2 }));
  await world.until("the Job is complete", () => hasCondition(world, "Complete"));
  const { status } = await world.get(Job, "pi");
  expect(status).toMatchObject({ succeeded: 5, ready: 0 });
  expect(status?.completionTime).toBeDefined();
  const pods = await world.list(Pod);
  expect(pods).toHaveLength(5);
  expect(pods.flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([]);
  await world.expectQuiet({ hours: 2 });
});

test("a Job that fails too often waits longer each time, and fails", async () => {
  await using world = await simulate({ seed: 2, models: [shortProgram()] });
  await world.apply(work({ backoffLimit: 2 }, "fails"));
  await world.until("the Job has failed", () => hasCondition(world, "Failed"));
  const { status, metadata } = await world.get(Job, "pi");
  expect(status).toMatchObject({ failed: 3 });
  expect(status?.active).toBeUndefined();
  const failed = status?.conditions?.find(({ type }) => type === "Failed");
  expect(failed).toMatchObject({ reason: "BackoffLimitExceeded" });
  const tookMs = Date.parse(failed?.lastTransitionTime ?? "") - Date.parse(metadata.creationTimestamp ?? "");
  expect(tookMs).toBeGreaterThanOrEqual(39_000);
});

test("an Indexed Job gives each index a pod, and goes on without an index that fails", async () => {
  await using world = await simulate({ seed: 3, models: [shortProgram(["1"])] });
  await world.apply(work({ completions: 3, parallelism: 3, completionMode: "Indexed", backoffLimitPerIndex: 1 }));
  await world.until("the Job has failed", () => hasCondition(world, "Failed"));
  const { status } = await world.get(Job, "pi");
  expect(status).toMatchObject({ succeeded: 2, failed: 2, completedIndexes: "0,2", failedIndexes: "1" });
  const names = (await world.list(Pod)).map(({ spec }) => spec?.hostname);
  expect(names.join(" ")).toMatch(/^(pi-\d ?){4}$/);
});

test("a suspended Job has no pods, and starts again when it is resumed", async () => {
  await using world = await simulate({ seed: 4, models: [shortProgram()] });
  await world.apply(work({ suspend: true }));
  await world.until("the Job is suspended", () => hasCondition(world, "Suspended"));
  expect((await world.get(Job, "pi")).status?.startTime).toBeUndefined();
  expect(await world.list(Pod)).toEqual([]);
  await world.patch(Job, "pi", { spec: { suspend: false } });
  await world.until("the Job is complete", () => hasCondition(world, "Complete"));
});

test("a pod that a Job adopts is counted like its own", async () => {
  await using world = await simulate({ seed: 7, models: [shortProgram()] });
  await world.apply(work({}));
  await world.until("the pod is there", async () => (await world.list(Pod)).length === 1);
  const [pod] = await world.list(Pod);
  const name = pod?.metadata.name ?? "";
  await world.patch(Pod, name, { metadata: { ownerReferences: null, finalizers: null } });
  await world.until("the Job is complete", () => hasCondition(world, "Complete"));
  expect((await world.list(Pod)).map(({ metadata }) => metadata.name)).toEqual([name]);
  expect((await world.get(Job, "pi")).status).toMatchObject({ succeeded: 1 });
});

test("a finished Job of another controller goes when its time after the end is over", async () => {
  await using world = await simulate({ seed: 8 });
  await world.apply(work({ managedBy: "example.com/queue", ttlSecondsAfterFinished: 20 }));
  const lastTransitionTime = new Date(world.host.clock.now()).toISOString();
  const conditions = ["SuccessCriteriaMet", "Complete"].map((type) => ({ type, status: "True", lastTransitionTime }));
  const ended = { startTime: lastTransitionTime, completionTime: lastTransitionTime, conditions };
  await world.wait(
    world.client.patch(Job, { name: "pi", namespace: "default" }, { status: ended }, { subresource: "status" }),
  );
  await world.until("the Job is gone", () => world.get(Job, "pi").then(() => false, isNotFound));
});

test("a resumed Job starts at once, while its former pods still end", async () => {
  await using world = await simulate({ seed: 9, models: [shortProgram()] });
  await world.apply(work({ completions: 2, parallelism: 2 }));
  await world.until("the pods are there", async () => (await world.list(Pod)).length === 2);
  const hold = { metadata: { finalizers: ["test.setpoint.dev/hold"] } };
  for (const { metadata } of await world.list(Pod)) await world.patch(Pod, metadata.name ?? "", hold);
  await world.patch(Job, "pi", { spec: { suspend: true } });
  await world.until("the Job is suspended", () => hasCondition(world, "Suspended"));
  await world.patch(Job, "pi", { spec: { suspend: false } });
  await world.run(5_000);
  expect((await world.list(Pod)).length).toBe(4);
});

test("a Job goes with its pods when its time after the end is over", async () => {
  await using world = await simulate({ seed: 5, models: [shortProgram()] });
  await world.apply(work({ ttlSecondsAfterFinished: 20 }));
  await world.until("the Job is complete", () => hasCondition(world, "Complete"));
  await world.until("the Job is gone", () => world.get(Job, "pi").then(() => false, isNotFound));
  await world.until("its pods are gone", async () => (await world.list(Pod)).length === 0);
});

test("pods of a Job that was deleted without them lose the finalizer of the count", async () => {
  await using world = await simulate({ seed: 6, models: [shortProgram()] });
  await world.apply(work({}));
  await world.until("the pod is there", async () => (await world.list(Pod)).length === 1);
  await world.wait(world.client.delete(Job, { name: "pi", namespace: "default" }, { propagationPolicy: "Orphan" }));
  await world.until("the pod is free", async () =>
    (await world.list(Pod)).every(({ metadata }) => (metadata.finalizers ?? []).length === 0),
  );
});
