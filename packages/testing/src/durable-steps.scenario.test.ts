/** A procedure of ordered steps, struck at every single write. */
import { conditions, controller, defineKind, defineOperator, seconds } from "setpoint";
import { expect, test } from "vitest";
import { z } from "zod";
import { conditionOf, simulate, type OperatorSource } from "./index.ts";

const Move = defineKind({
  group: "example.com",
  version: "v1",
  kind: "Move",
  spec: z.object({ to: z.string() }),
  status: z.object({ snapshot: z.string().optional(), conditions: conditions().optional() }),
});

/** What the steps do outside: data that is moved twice is lost. */
class Disks {
  readonly done: string[] = [];
  copiedMs = 0;

  do(what: string): void {
    this.done.push(what);
  }
}

function mover(disks: Disks): OperatorSource {
  return (process) => {
    const doing = (what: string): Promise<void> => process.call(what, "write", async () => disks.do(what));
    const moves = controller(Move, {
      ledger: true,
      async reconcile({ spec }, { step, status, host: { clock }, requeueAfter }) {
        const snapshot = await step("take snapshot", async () => {
          await doing(`snapshot for ${spec.to}`);
          return { id: `s-${disks.done.length}` };
        });
        await step("move", () => doing(`move to ${spec.to}`));
        await step("verify", async () => {
          disks.copiedMs ||= clock.now() + seconds(30);
          return clock.now() < disks.copiedMs ? requeueAfter(seconds(5), "the copy is compared") : undefined;
        });
        await status({ snapshot: snapshot.id });
      },
    });
    return defineOperator({ name: "mover", controllers: [moves] });
  };
}

test("steps run in order, say so in the status, and a finished procedure is silent", async () => {
  const disks = new Disks();
  await using world = await simulate({ seed: 1, operators: [mover(disks)] });
  await world.apply(Move({ name: "data", spec: { to: "b" } }));
  await world.run(seconds(10));
  const during = await world.get(Move, "data");
  expect(conditionOf(during, "StepsDone")).toMatchObject({
    status: "False",
    reason: "Verify",
    message: 'Step "verify" is under way, after take snapshot, move',
  });
  await world.settled();
  const after = await world.get(Move, "data");
  expect(after.status?.snapshot).toBe("s-1");
  expect(conditionOf(after, "StepsDone")).toMatchObject({
    status: "True",
    message: "Done: take snapshot, move, verify",
  });
  expect(disks.done).toEqual(["snapshot for b", "move to b"]);
  await world.restartOperator();
  await world.expectQuiet();
});

test("a step that waits writes nothing while it waits", async () => {
  const disks = new Disks();
  await using world = await simulate({ seed: 1, operators: [mover(disks)] });
  await world.apply(Move({ name: "data", spec: { to: "b" } }));
  await world.run(seconds(10));
  const before = world.operatorWrites;
  await world.run(seconds(15));
  expect(world.operatorWrites).toBe(before);
});

test("a change of the spec restarts the procedure", async () => {
  const disks = new Disks();
  await using world = await simulate({ seed: 1, operators: [mover(disks)] });
  await world.apply(Move({ name: "data", spec: { to: "b" } }));
  await world.settled();
  await world.patch(Move, "data", { spec: { to: "c" } });
  await world.settled();
  expect(disks.done).toEqual(["snapshot for b", "move to b", "snapshot for c", "move to c"]);
});

for (const strike of ["before", "after", "lose"] as const)
  test(`no step that has returned is run again, and none before its turn, whichever write is struck (${strike})`, async () => {
    for (let write = 1; write <= 12; write++)
      for (const watchLagMsMax of [0, 1_000]) {
        const disks = new Disks();
        await using world = await simulate({ seed: write, operators: [mover(disks)], watchLagMsMax });
        if (strike === "lose") world.loseAnswerOf(write);
        else world.crashOperatorAt(write, strike);
        await world.apply(Move({ name: "data", spec: { to: "b" } }));
        await world.settled();
        const what = `write ${write}, lag ${watchLagMsMax}`;
        expect((await world.get(Move, "data")).status?.snapshot, what).toMatch(/^s-/);
        // An interrupted step may run again, but nothing of an earlier step comes after it.
        expect(
          disks.done.toSorted((a, b) => b.localeCompare(a)),
          what,
        ).toEqual(disks.done);
        expect(disks.done.length, what).toBeLessThanOrEqual(3);
      }
  });
