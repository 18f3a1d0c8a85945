/** Acceptance tests of an engine that brings nothing but one short file. */
import { AcceptanceRun, Backup, BackupStore, Restore } from "@setpoint/data-service";
import { type KindRef, minutes } from "setpoint";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { conditionOf, simulate, type World } from "setpoint/testing";
import { describe, expect, test } from "vitest";
import { KeyValueStore } from "./key-value-store.ts";
import { type KeyValueSetting, keyValueSetting } from "./testing/key-value-stage.ts";

const target = { apiGroup: "keyvalue.setpoint.dev", kind: "KeyValueStore" };

function acceptanceRun(spec: Partial<AcceptanceRun["spec"]> = {}): AcceptanceRun {
  return AcceptanceRun({ name: "proof", spec: { target, ...spec } });
}

async function setUp(seed: number): Promise<KeyValueSetting & { readonly world: World }> {
  const { server, transfers, ...setting } = keyValueSetting();
  const world = await simulate({ seed, ...setting });
  return { world, server, transfers, ...setting };
}

/** More than a run makes. */
const writesMax = 400;

type Status = NonNullable<AcceptanceRun["status"]>;

async function ended(world: World): Promise<Status> {
  const isOver = async (): Promise<boolean> =>
    (await world.get(AcceptanceRun, "proof")).status?.finishedAt !== undefined;
  await world.until("the end of the run", isOver, { within: minutes(60) });
  const { status } = await world.get(AcceptanceRun, "proof");
  if (status === undefined) throw new Error("the run has no status");
  return status;
}

const all = [
  "create-and-use",
  "change",
  "member-lost",
  "binding",
  "backup-and-restore",
  "damaged-backup-refused",
  "removal",
  "clean-up",
];

function states(status: Status): Readonly<Record<string, string>> {
  return Object.fromEntries(status.checks.map(({ name, state }) => [name, state]));
}

/** Everything of the run is gone but the run itself. */
async function expectNothingLeft(world: World): Promise<void> {
  const kinds: readonly KindRef[] = [KeyValueStore, Pod, PersistentVolumeClaim, Backup, BackupStore, Restore];
  for (const kind of kinds) expect((await world.list(kind)).map(({ metadata }) => metadata.name)).toEqual([]);
}

test("every check passes on a healthy operator, and nothing is left but the report", async () => {
  const { world } = await setUp(1);
  await using _ = world;
  await world.apply(acceptanceRun());
  const status = await ended(world);
  expect(states(status), JSON.stringify(status)).toEqual({
    ...Object.fromEntries(all.map((name) => [name, "Passed"])),
    change: "Skipped",
  });
  expect(status).toMatchObject({ phase: "Passed", passed: 7, failed: 0, skipped: 1 });
  const run = await world.get(AcceptanceRun, "proof");
  expect(conditionOf(run, "Complete")).toMatchObject({ status: "True" });
  expect(conditionOf(run, "Passed")).toMatchObject({ status: "True" });
  await expectNothingLeft(world);
  await world.expectQuiet();
});

test("only the chosen checks run, with those that they need", async () => {
  const { world } = await setUp(2);
  await using _ = world;
  await world.apply(acceptanceRun({ checks: ["removal"] }));
  const status = await ended(world);
  expect(states(status)).toEqual({ "create-and-use": "Passed", removal: "Passed", "clean-up": "Passed" });
});

describe("a check fails", () => {
  test("when the engine forgets acknowledged writes, and the checks that need it are skipped", async () => {
    const { world, server } = await setUp(3);
    await using _ = world;
    server.forgets = true;
    await world.apply(acceptanceRun());
    const status = await ended(world);
    expect(status.phase).toBe("Failed");
    expect(status.checks[0]).toMatchObject({
      state: "Failed",
      message:
        "20 of 20 acknowledged writes are lost, such as setpoint-acceptance/first/0, setpoint-acceptance/first/1, setpoint-acceptance/first/2, setpoint-acceptance/first/3, setpoint-acceptance/first/4",
    });
    expect(states(status)).toMatchObject({ removal: "Skipped", "clean-up": "Passed" });
    expect(conditionOf(await world.get(AcceptanceRun, "proof"), "Passed")).toMatchObject({ status: "False" });
    await expectNothingLeft(world);
  });

  test("when the instance does not become ready within the deadline", async () => {
    const { world, server } = await setUp(4);
    await using _ = world;
    server.startsNever = true;
    await world.apply(acceptanceRun({ checks: ["create-and-use"], checkTimeoutSeconds: 60 }));
    const [check] = (await ended(world)).checks;
    expect(check?.state).toBe("Failed");
    expect(check?.message).toMatch(/^not finished within 60 s: KeyValueStore "proof-main" does not serve: /);
  });

  test("when a restored instance has other data than the backup", async () => {
    const { world, server } = await setUp(5);
    await using _ = world;
    server.restoresNothing = true;
    await world.apply(acceptanceRun({ checks: ["backup-and-restore"] }));
    const status = await ended(world);
    expect(states(status)).toMatchObject({ "backup-and-restore": "Failed", "clean-up": "Passed" });
    expect(status.checks[1]?.message).toContain("20 of 20 acknowledged writes are lost");
    await expectNothingLeft(world);
  });

  test("when a damaged backup is restored", async () => {
    const { world, transfers } = await setUp(6);
    await using _ = world;
    // As a store that gives back what it was given whatever its disk holds: no damage is seen.
    transfers.vault.damage = () => {};
    await world.apply(acceptanceRun({ checks: ["damaged-backup-refused"] }));
    const status = await ended(world);
    expect(status.checks[1]).toMatchObject({
      state: "Failed",
      message: 'KeyValueStore "proof-refused" was created from a damaged backup',
    });
    await expectNothingLeft(world);
  });

  test("when the server refuses the users of bindings", async () => {
    const { world, server } = await setUp(7);
    await using _ = world;
    server.setUser = () => {
      throw new Error("the server knows no users");
    };
    await world.apply(acceptanceRun({ checks: ["binding"], checkTimeoutSeconds: 60 }));
    const status = await ended(world);
    expect(status.checks[1]?.state).toBe("Failed");
    expect(status.checks[1]?.message).toContain('ServiceBinding "proof-binding" has no login: ');
  });

  test("when the data of a lost member do not come back", async () => {
    const { world, server } = await setUp(8);
    await using _ = world;
    server.losesDataAtStart = true;
    await world.apply(acceptanceRun({ checks: ["member-lost"] }));
    const status = await ended(world);
    expect(status.checks[1]?.state).toBe("Failed");
    expect(status.checks[1]?.message).toContain("acknowledged writes are lost");
  });
});

test("a run that is deleted in its midst leaves nothing, not even the instance of a restore", async () => {
  const { world } = await setUp(9);
  await using _ = world;
  await world.apply(acceptanceRun({ checks: ["backup-and-restore"] }));
  const isCopying = async (): Promise<boolean> =>
    (await world.list(KeyValueStore)).some(
      ({ metadata, status }) => metadata.name === "proof-copy" && status?.serving === true,
    );
  await world.until("the instance of the restore", isCopying, { within: minutes(10) });
  await world.delete(AcceptanceRun, "proof");
  await world.settled();
  expect(await world.list(AcceptanceRun)).toEqual([]);
  await expectNothingLeft(world);
});

test("an engine without versions refuses a run that names one", async () => {
  const { world } = await setUp(11);
  await using _ = world;
  await world.apply(acceptanceRun({ version: "1.0.0" }));
  const status = await ended(world);
  expect(status).toMatchObject({ phase: "Failed", checks: [] });
  expect(status.message).toContain('the engine "key-value" has no versions to choose from');
  await expectNothingLeft(world);
});

/** Each round restarts the operator about a dozen times, and together they cover every write. */
const rounds = 12;

test.each(Array.from({ length: rounds }, (_, round) => round + 1))(
  "an operator that restarts again and again goes on, and the run passes (round %i)",
  async (round) => {
    const { world, transfers } = await setUp(10);
    await using _ = world;
    for (let write = round; write <= writesMax; write += rounds)
      world.crashOperatorAt(write, write % 2 === 0 ? "before" : "after");
    await world.apply(acceptanceRun());
    const status = await ended(world);
    expect(status, JSON.stringify(status)).toMatchObject({ phase: "Passed", failed: 0, skipped: 1 });
    expect(world.operatorWrites).toBeLessThan(writesMax);
    expect(transfers.violations).toEqual([]);
    await expectNothingLeft(world);
  },
);
