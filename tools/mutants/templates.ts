/** The templates M1–M24 to which the bugs of Sieve and Acto reduce, and those that nobody tested before. */
import { ConfigMap } from "@setpoint/api";
import { apply, happens, patch, remove, type Story, story, type World } from "@setpoint/testing";
import type { Stored } from "setpoint";
import { oldLeader, ownWebhook } from "./coordination-mutants.ts";
import { secret, volume, configuration } from "./children.ts";
import {
  deleteAndRecreate,
  labelBeforeAction,
  pair,
  restartAfterWrite,
  shrinkBeforeMove,
  unresumedTeardown,
} from "./crash-mutants.ts";
import { cleanupThrows, throwsAfterWork } from "./failing-mutants.ts";
import { previousReplicas } from "./memory-mutants.ts";
import type { Mutant } from "./mutant.ts";
import {
  absentBlock,
  foreignLabels,
  onlyOnCreate,
  removalForgotten,
  senselessValue,
  waitsForBad,
} from "./spec-mutants.ts";
import { wallClockSchedule } from "./time-mutants.ts";
import { evictionByName, swallowedUpdate } from "./outside-mutants.ts";
import { missingIsDeleted, surplusByName, withCredentials } from "./read-mutants.ts";
import { deletionByLabel, deletionByName, staleSwitch, surplusByStatus } from "./stale-mutants.ts";
import { Store } from "./store.ts";
import { changing, changingAnd, deleting, replacing, type Spec, storeName } from "./stories.ts";
import { conflictLoop, generatedNames, partialList, recreatedAfterCleanup } from "./write-mutants.ts";

type Make = Mutant["operator"];

function template(id: string, bug: string, operator: Make, story: Story): Mutant {
  return { id, template: id, bug, operator, story };
}

const data = volume("data-0");
const childName = `${storeName}-set`;

/** However late an operator hears of a change: longer than its watch may be silent. */
const patient = { within: 600_000 };

/** A user labels a child before the spec changes. In the end the label must be there, if the child is. */
const labelled = changingAnd(
  "a user labels a child, then changes the store",
  [{ config: "a" }],
  happens("a child is labelled, and the spec changes", async (world) => {
    await world.until(`"${childName}" is there`, async () => (await child(world, childName)) !== undefined, patient);
    const before = await child(world, childName);
    await world.patch(ConfigMap, childName, { metadata: { labels: { team: "payments" } } });
    await world.patch(Store, storeName, { spec: { config: "b" } });
    const isChanged = async (): Promise<boolean> => (await child(world, childName))?.data?.["config"] === "b";
    await world.until("the change has come", isChanged, patient);
    const after = await child(world, childName);
    if (after?.metadata.uid === before?.metadata.uid && after?.metadata.labels?.["team"] !== "payments")
      throw new Error(`the user's label on "${childName}" is gone`);
  }),
);

async function child(world: World, name: string): Promise<Stored<ConfigMap> | undefined> {
  return (await world.list(ConfigMap)).find(({ metadata }) => metadata.name === name);
}

/** Three stores, one more than a page of M23's list holds. */
const three = story(
  "three stores",
  ...["a", "b", "c"].map((name) => apply(Store({ name, spec: {} }))),
  happens("each has its entry", async (world) => {
    for (const name of ["a", "b", "c"])
      await world.until(
        `store "${name}" has its entry`,
        async () => (await child(world, `${name}-entry`)) !== undefined,
        patient,
      );
  }),
);

/**
 * A user sets an invalid value, and later corrects it. An operator that does not accept the value must report
 * it.
 */
const corrected = changingAnd(
  "a schedule without sense, then a good one",
  [{ backup: { schedule: "daily" } }, { backup: { schedule: "sometimes" } }],
  happens("the user gets a report", (world) =>
    world.until(
      "the status says that the schedule makes no sense",
      async () => (await world.get(Store, storeName)).status?.accepted === false,
      patient,
    ),
  ),
  patch(Store, storeName, { spec: { backup: { schedule: "hourly" } } }),
);

const halfAnHour = 1_800_000;

/** An hour, in each half of which there must be a backup, whatever the clocks on the walls say. */
const backedUp = changingAnd(
  "an hour of backups",
  [{}],
  happens("a backup in every half hour", async (world) => {
    let before = 0;
    for (let round = 0; round < 2; round++) {
      await world.run(halfAnHour);
      const backups = (await world.get(Store, storeName)).status?.backups ?? 0;
      if (backups <= before) throw new Error(`no backup was made for half an hour; there are ${backups}`);
      before = backups;
    }
  }),
);

/** What the spec says in the end must be what the child has. */
function ending(name: string, wanted: Readonly<Record<string, string>>, ...specs: readonly Spec[]): Story {
  return changingAnd(
    `a store whose ${name} follows its spec`,
    specs,
    happens(`the ${name} is as wanted`, (world) =>
      world.until(
        `"${storeName}-${name}" has ${JSON.stringify(wanted)}`,
        async () => JSON.stringify((await child(world, `${storeName}-${name}`))?.data) === JSON.stringify(wanted),
        patient,
      ),
    ),
  );
}

/** The store is deleted; that it goes is for the laws to see. */
const removed = story("a store is deleted", apply(Store({ name: storeName, spec: {} })), remove(Store, storeName));

/** A merge patch that takes a label out. */
const withoutLabel: Spec = { labels: { a: null as unknown as string } };

export const templates: readonly Mutant[] = [
  template("M1", "of two artefacts only the first is looked for", pair(secret("ca"), secret("server")), changing({})),
  template("M2", "a label says that it was done before it is done", labelBeforeAction, changing({})),
  template("M3", "deletion by a name that another object may have now", deletionByName([data]), replacing()),
  template("M4", "an old deletionTimestamp deletes volumes by label", deletionByLabel([data]), replacing()),
  template(
    "M5",
    "a switch that is off in an old view takes things away",
    staleSwitch([secret("tls")], (spec) => spec.tls),
    changing({}, { tls: true }),
  ),
  template(
    "M6",
    "delete and recreate, without a record of why",
    deleteAndRecreate,
    changing({ storage: "1Gi" }, { storage: "2Gi" }),
  ),
  template(
    "M7",
    "the replicas seen before decide",
    previousReplicas((spec) => spec.replicas),
    changing({ replicas: 1 }, { replicas: 3 }),
  ),
  template(
    "M8",
    "an old status decides which volume is surplus",
    surplusByStatus,
    changing({ replicas: 1 }, { replicas: 3 }),
  ),
  template(
    "M9",
    "the decision compares with the value just written",
    restartAfterWrite,
    changing({ config: "a" }, { config: "b" }),
  ),
  template(
    "M10",
    "the scale-down is recorded before the data has moved",
    shrinkBeforeMove,
    changing({ replicas: 2 }, { replicas: 1 }),
  ),
  template(
    "M11",
    "a teardown that is not resumed",
    unresumedTeardown([configuration("a"), configuration("b"), configuration("c")]),
    deleting(),
  ),
  template("M12", "made again after the clean-up", recreatedAfterCleanup, deleting()),
  template(
    "M13",
    "a field that counts only at creation",
    onlyOnCreate,
    ending("set", { image: "store:2" }, { image: "store:1" }, { image: "store:2" }),
  ),
  template(
    "M14",
    "what is removed from a map stays",
    removalForgotten,
    ending("set", { b: "2" }, { labels: { a: "1", b: "2" } }, withoutLabel),
  ),
  template(
    "M15",
    "waits for what can never get ready, and does not see the correction",
    waitsForBad,
    ending("rollout", { image: "store:2" }, { image: "store:1" }, { image: "store:bad" }, { image: "store:2" }),
  ),
  {
    ...template(
      "M16",
      "an absent block is read as if it were there",
      absentBlock,
      ending("backups", { schedule: "never" }, {}),
    ),
    isFailing: true,
  },
  {
    ...template("M17", "a value without sense is taken, and nobody says so", senselessValue, corrected),
    isFailing: true,
  },
  template("M18", "the labels of others are erased", foreignLabels, labelled),
  template("M19", "a lost answer makes a second one under another name", generatedNames, changing({ replicas: 2 })),
  template(
    "M20",
    "a conflict is answered by overwriting",
    conflictLoop,
    changing({ config: "a" }, { config: "b" }, { config: "c" }, { config: "d" }),
  ),
  oldLeader,
  { ...template("M22", "the wall clock says when the next backup is due", wallClockSchedule, backedUp), isBusy: true },
  template("M23", "one page is taken for the whole list", partialList, three),
  ownWebhook,
  {
    ...template("M25", "the work is done, and every run ends with an error", throwsAfterWork, changing({})),
    isFailing: true,
  },
  { ...template("M26", "a cleanup that fails for ever", cleanupThrows, removed), isFailing: true },
  template(
    "M27",
    "ConfigMaps of a cached list are deleted by name",
    surplusByName,
    changing({ replicas: 2 }, { replicas: 1 }),
  ),
  template("M28", "a Secret missing from the cache is taken for deleted", missingIsDeleted, withCredentials),
  template("M29", "pods are evicted by name", evictionByName, changing({ replicas: 2 }, { replicas: 1 })),
  swallowedUpdate,
];
