/** Operations in the simulated world, on a model of an engine that needs three steps for everything. */
import { defineKind, defineOperator, minutes, type ObjectOf, type Operator, seconds } from "setpoint";
import { type OperatorProcess, simulate, type World } from "setpoint/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import { Operation } from "../kinds/operation.ts";
import { type EngineOperations, operationRules, operations } from "./operations.ts";

const Machine = defineKind({
  group: "model.setpoint.dev",
  version: "v1",
  kind: "Machine",
  spec: z.object({ window: z.string().optional(), stuck: z.boolean().default(false) }),
});
type Machine = ObjectOf<typeof Machine>;

const stepsWanted = 3;

/** What was done, by the id of the operation; the steps of two operations must never mix. */
class Model {
  readonly steps: { readonly id: string; readonly type: string }[] = [];

  done(id: string): number {
    return this.steps.filter((step) => step.id === id).length;
  }
}

function engine(model: Model, process: OperatorProcess): EngineOperations<Machine> {
  return {
    name: "machine",
    kind: Machine,
    types: ["Restart", "Defragment", "Fence"],
    disruptive: ["Restart"],
    windows: ({ spec }) => (spec.window === undefined ? [] : [{ schedule: spec.window, duration: "1h" }]),
    async advance({ spec }, { id, type, member }) {
      if (type === "Fence" && member === undefined)
        return { state: "rejected", reason: "MemberMissing", message: "Name the member to fence" };
      if (!spec.stuck && model.done(id) < stepsWanted)
        await process.call(`step of ${id}`, "write", async () => void model.steps.push({ id, type }));
      const done = model.done(id);
      if (done >= stepsWanted) return { state: "done", message: "All members were restarted" };
      return { state: "running", message: "restarting", progress: `${done}/${stepsWanted}`, recheckMs: seconds(5) };
    },
  };
}

function operator(model: Model, process: OperatorProcess): Operator {
  const controllers = [operations(engine(model, process))];
  return defineOperator({ name: "machine", kinds: [Machine], controllers, permissions: operationRules });
}

async function setUp(seed: number): Promise<{ readonly world: World; readonly model: Model }> {
  const model = new Model();
  return { world: await simulate({ seed, operators: [(process) => operator(model, process)] }), model };
}

const instance = { apiGroup: Machine.group, kind: Machine.kind, name: "lathe" };

function operation(name: string, type: Operation["spec"]["type"], spec: object = {}): Operation {
  return Operation({ name, spec: { instance, type, ...spec } });
}

async function statusOf(world: World, name: string): Promise<Operation["status"]> {
  return (await world.get(Operation, name)).status;
}

test("an operation goes through its steps, also when its operator restarts in between", async () => {
  const { world, model } = await setUp(1);
  await using _ = world;
  await world.apply(Machine({ name: "lathe", spec: {} }));
  await world.apply(operation("restart", "Restart"));
  await world.run(seconds(4));
  expect(await statusOf(world, "restart")).toMatchObject({ phase: "InProgress", progress: "1/3" });
  await world.restartOperator();
  await world.run(minutes(1));
  expect(await statusOf(world, "restart")).toMatchObject({ phase: "Succeeded", reason: "Done" });
  expect(model.steps.length).toBe(stepsWanted);
  await world.expectQuiet();
});

test("operations of one instance run one after the other, in their order", async () => {
  const { world, model } = await setUp(2);
  await using _ = world;
  await world.apply(Machine({ name: "lathe", spec: {} }));
  await world.apply(operation("first", "Restart"));
  await world.run(seconds(2));
  await world.apply(operation("second", "Defragment"));
  await world.run(seconds(2));
  expect(await statusOf(world, "second")).toMatchObject({ phase: "Pending", reason: "Queued" });
  await world.run(minutes(2));
  expect(await statusOf(world, "second")).toMatchObject({ phase: "Succeeded" });
  expect(model.steps.map(({ type }) => type)).toEqual([
    ...["Restart", "Restart", "Restart", "Defragment", "Defragment", "Defragment"],
  ]);
});

test("what cannot be done is rejected with its reason", async () => {
  const { world } = await setUp(3);
  await using _ = world;
  await world.apply(operation("early", "Restart"));
  await world.apply(Machine({ name: "lathe", spec: {} }));
  await world.apply(operation("wake", "Wake"));
  await world.apply(operation("fence", "Fence"));
  await world.run(minutes(1));
  expect(await statusOf(world, "wake")).toMatchObject({ phase: "Rejected", reason: "Unsupported" });
  expect(await statusOf(world, "fence")).toMatchObject({ phase: "Rejected", reason: "MemberMissing" });
  expect((await statusOf(world, "early"))?.reason).toMatch(/InstanceMissing|Done/);
});

test("a disruptive operation waits for its window, and another does not", async () => {
  const { world } = await setUp(4);
  await using _ = world;
  const now = new Date(world.host.clock.now());
  const later = (now.getUTCHours() + 3) % 24;
  await world.apply(Machine({ name: "lathe", spec: { window: `0 ${later} * * *` } }));
  await world.apply(operation("gentle", "Defragment"));
  await world.run(minutes(1));
  await world.apply(operation("restart", "Restart"));
  await world.apply(operation("urgent", "Restart", { ignoreWindows: true }));
  await world.run(minutes(1));
  expect(await statusOf(world, "gentle")).toMatchObject({ phase: "Succeeded" });
  expect(await statusOf(world, "restart")).toMatchObject({ phase: "Pending", reason: "OutsideWindow" });
  await world.run(minutes(181));
  expect(await statusOf(world, "restart")).toMatchObject({ phase: "Succeeded" });
});

test("an operation that waits for its window lets those go first that need none", async () => {
  const { world } = await setUp(8);
  await using _ = world;
  const later = (new Date(world.host.clock.now()).getUTCHours() + 3) % 24;
  await world.apply(Machine({ name: "lathe", spec: { window: `0 ${later} * * *` } }));
  await world.apply(operation("restart", "Restart"));
  await world.run(minutes(1));
  await world.apply(operation("gentle", "Defragment"));
  await world.apply(operation("urgent", "Restart", { ignoreWindows: true }));
  await world.run(minutes(2));
  expect(await statusOf(world, "gentle")).toMatchObject({ phase: "Succeeded" });
  expect(await statusOf(world, "urgent")).toMatchObject({ phase: "Succeeded" });
  expect(await statusOf(world, "restart")).toMatchObject({ phase: "Pending", reason: "OutsideWindow" });
  await world.run(minutes(181));
  expect(await statusOf(world, "restart")).toMatchObject({ phase: "Succeeded" });
});

test("an operation whose window is no cron line says so, and lets the others go first", async () => {
  const { world } = await setUp(9);
  await using _ = world;
  await world.apply(Machine({ name: "lathe", spec: { window: "every night" } }));
  await world.apply(operation("restart", "Restart"));
  await world.run(minutes(1));
  await world.apply(operation("gentle", "Defragment"));
  await world.run(minutes(2));
  expect(await statusOf(world, "gentle")).toMatchObject({ phase: "Succeeded" });
  const { phase, reason, message } = (await statusOf(world, "restart")) ?? {};
  expect([phase, reason]).toEqual(["Pending", "WindowInvalid"]);
  expect(message).toContain('Cannot use cron line "every night"');
  await world.patch(Machine, "lathe", { spec: { window: null } });
  await world.run(minutes(1));
  expect(await statusOf(world, "restart")).toMatchObject({ phase: "Succeeded" });
});

test("an operation fails at its deadline, and is deleted after its time", async () => {
  const { world } = await setUp(5);
  await using _ = world;
  await world.apply(Machine({ name: "lathe", spec: { stuck: true } }));
  await world.apply(operation("restart", "Restart", { deadlineSeconds: 30, ttlSecondsAfterFinished: 60 }));
  await world.run(seconds(45));
  expect(await statusOf(world, "restart")).toMatchObject({ phase: "Failed", reason: "DeadlineExceeded" });
  await world.run(seconds(61));
  expect(await world.list(Operation)).toEqual([]);
});

test("a cancelled operation ends, whether or not it has begun", async () => {
  const { world } = await setUp(6);
  await using _ = world;
  await world.apply(Machine({ name: "lathe", spec: { stuck: true } }));
  await world.apply(operation("running", "Restart"));
  await world.run(seconds(2));
  await world.apply(operation("queued", "Restart"));
  await world.run(seconds(2));
  for (const name of ["queued", "running"]) await world.patch(Operation, name, { spec: { cancel: true } });
  await world.run(seconds(10));
  expect(await statusOf(world, "queued")).toMatchObject({ phase: "Rejected", reason: "Cancelled" });
  expect(await statusOf(world, "running")).toMatchObject({ phase: "Failed", reason: "Cancelled" });
});

test("an operation does not continue on a namesake of its instance", async () => {
  const { world } = await setUp(7);
  await using _ = world;
  await world.apply(Machine({ name: "lathe", spec: { stuck: true } }));
  await world.apply(operation("restart", "Restart"));
  await world.run(seconds(2));
  await world.delete(Machine, "lathe");
  await world.apply(Machine({ name: "lathe", spec: {} }));
  await world.run(minutes(1));
  expect(await statusOf(world, "restart")).toMatchObject({ phase: "Failed", reason: "InstanceMissing" });
});
