/** The laws, held against operators that are wrong on purpose. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigMap } from "@setpoint/api";
import { conditions, controller, defineKind, defineOperator, type Operator } from "setpoint";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { allOracles } from "../oracles/all-oracles.ts";
import { invariant } from "../oracles/oracle.ts";
import { explore } from "../explore/explore.ts";
import { given, patch, remove, type Setting, story, unsettled } from "../explore/story.ts";
import { type LawOptions, reconcilerLaws, testLaws } from "./reconciler-laws.ts";

const Pair = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "Pair",
  spec: z.object({ value: z.string(), second: z.boolean().optional() }),
  status: z.object({ done: z.boolean().optional(), conditions: conditions().optional() }),
});

const pair = Pair({ name: "a", spec: { value: "one" } });
const folder = mkdtempSync(join(tmpdir(), "laws-"));
afterAll(() => rmSync(folder, { recursive: true }));
const quick = { seed: 7, traceFolder: folder, quietMs: 60_000, withinMs: 60_000 } satisfies Partial<LawOptions>;

/** Two artefacts for each object; `sound` looks at each, the other one only at the first. */
function pairs(sound: boolean): Operator {
  const definition = controller(Pair, {
    owns: [ConfigMap],
    async reconcile({ metadata: { name }, spec }, { apply, children }) {
      if (!sound && children.list(ConfigMap).length > 0) return;
      await apply(ConfigMap({ name: `${name}-first`, data: { value: spec.value } }));
      await apply(ConfigMap({ name: `${name}-second`, data: { value: spec.value } }));
    },
  });
  return defineOperator({ name: "pairs", controllers: [definition] });
}

async function messageOf(laws: Promise<unknown>): Promise<string> {
  return laws.then(
    () => "no rule was broken",
    (error: unknown) => (error as Error).message,
  );
}

describe("an operator that is right", () => {
  test("keeps all laws in all cells", async () => {
    const worlds = [pair, story("changes", pair, patch(Pair, "a", { spec: { value: "two" } }), remove(Pair, "a"))];
    const found = await reconcilerLaws(pairs(true), { ...quick, worlds, faults: ["A2", "B2", "B4", "C6", "E1"] });
    expect(found.isComplete).toBe(true);
    expect(found.coverage.flatMap(({ kinds }) => kinds).every(({ cells, visited }) => cells === visited)).toBe(true);
    expect(found.schedules).toBeGreaterThan(20);
  });
});

test("children of an owner whose end the cache does not show are not made again and again", async () => {
  const worlds = [story("ends", pair, remove(Pair, "a"))];
  const found = await reconcilerLaws(pairs(true), { ...quick, worlds, faults: ["C1", "C5", "C6"] });
  expect(found.failures).toEqual([]);
});

describe("an operator that takes the first artefact for both", () => {
  const laws = (): Promise<string> =>
    messageOf(reconcilerLaws(pairs(false), { ...quick, worlds: [pair], failuresMax: 1 }));

  test("is found, with the rule, the fault, a trace of at most thirty lines, and the path of a page", async () => {
    const message = await laws();
    expect(message).toContain('breaks "same end as without faults"');
    expect(message).toContain("POST default/configmaps/a-second".replace("POST", "PATCH"));
    const trace = message.slice(0, message.indexOf("once more:")).split("\n");
    expect(trace.length).toBeLessThan(40);
    const [, page = ""] = /trace: (.*\.html)/.exec(message) ?? [];
    const html = readFileSync(page, "utf8");
    expect(html).toContain("<th>pairs</th>");
    expect(html).not.toMatch(/src=|href=/);
  });

  test("is found again by the line that the failure has printed", async () => {
    const [, line = '""'] = /once more: repro: (".*")/.exec(await laws()) ?? [];
    const again = await messageOf(
      reconcilerLaws(pairs(false), { ...quick, worlds: [pair], repro: JSON.parse(line) as string }),
    );
    expect(again).toContain('breaks "same end as without faults"');
  });
});

describe("bad input ends with a sentence", () => {
  test("an oracle that throws is named", async () => {
    const broken = invariant("always throws", () => {
      throw new Error("no such thing");
    });
    const message = await messageOf(reconcilerLaws(pairs(true), { ...quick, worlds: [pair], oracles: [broken] }));
    expect(message).toContain('breaks "always throws"');
    expect(message).toContain("the oracle itself failed: no such thing");
  });

  test("an exploration without a seed", async () => {
    const options = { ...quick, worlds: [pair], seed: undefined as unknown as number };
    expect(await messageOf(reconcilerLaws(pairs(true), { ...options, seed: Number.NaN }))).toContain(
      "Cannot explore: the seed is NaN",
    );
  });

  test("an exploration without a world", async () => {
    expect(await messageOf(reconcilerLaws(pairs(true), { ...quick, worlds: [] }))).toContain("`worlds` is empty");
  });

  test("an exploration with a fault that the explorer never places", async () => {
    expect(await messageOf(reconcilerLaws(pairs(true), { ...quick, worlds: [pair], faults: ["A1", "E4"] }))).toContain(
      'Cannot explore with the fault "E4": expected one of A1, A2,',
    );
  });

  test("a story whose object the API refuses", async () => {
    const wrong = { ...pair, spec: { value: 7 } } as unknown as typeof pair;
    const message = await messageOf(reconcilerLaws(pairs(true), { ...quick, worlds: [wrong] }));
    expect(message).toContain('after "apply Pair "a""');
    expect(message).toContain("spec.value");
  });

  test("an operator that never yields", async () => {
    const endless = controller(Pair, {
      async reconcile() {
        for (;;);
      },
    });
    const subject = (): Setting => ({
      operators: [defineOperator({ name: "endless", controllers: [endless] })],
      stallMsMax: 300,
    });
    const message = await messageOf(reconcilerLaws(subject, { ...quick, worlds: [pair], faults: [] }));
    expect(message).toContain('breaks "converges"');
    expect(message).toContain("something loops without waiting for anything but itself");
  });

  test("a setting that throws", async () => {
    const subject = (): never => {
      throw new Error("no model for this");
    };
    expect(await messageOf(reconcilerLaws(subject, { ...quick, worlds: [pair] }))).toContain("no model for this");
  });
});

test("a schedule of many faults is shrunk to the one that matters", async () => {
  const found = await explore({
    subject: pairs(false),
    worlds: [pair],
    seed: 7,
    faults: ["A2", "B2", "B4", "C1", "C6", "D4"],
    quietMs: 60_000,
    withinMs: 60_000,
    seconds: 15,
    singles: false,
    swarm: 40,
    failuresMax: 1,
  });
  const [failure] = found.failures;
  expect(failure?.report.schedule.faults.length).toBe(1);
  expect(failure?.faultsBefore).toBeGreaterThan(1);
});

test("pairs are run once for each state and never in both orders", async () => {
  const options = { subject: pairs(true), worlds: [pair], seed: 7, quietMs: 60_000, withinMs: 60_000 } as const;
  const found = await explore({ ...options, faults: ["A2", "B2"], pairs: 100 });
  expect(found.failures).toEqual([]);
  expect(found.pairs.run).toBeGreaterThan(2);
  expect(found.pairs.skipped).toBeGreaterThan(0);
});

test("stories take turns, and no fault strikes a step that is given", async () => {
  const changed = patch(Pair, "a", { spec: { value: "two" } });
  const worlds = [
    story("begins", pair),
    story("is changed", given(pair), changed),
    story("ends", given(pair), remove(Pair, "a")),
  ];
  const struck: string[] = [];
  const run = { subject: pairs(true), seed: 7, quietMs: 60_000, withinMs: 60_000, faults: ["C1"] } as const;
  const found = await explore({ ...run, worlds, onRun: ({ story: name }) => struck.push(name) });
  expect(struck.slice(0, 3)).toEqual(["begins", "is changed", "ends"]);
  const alone = await explore({ ...run, worlds: [story("is changed", given(pair), changed)] });
  expect(alone.coverage[0]?.kinds).toEqual(found.coverage[1]?.kinds);
});

test("a story goes on after a step that leaves the world unsettled", async () => {
  const waits = controller(Pair, {
    owns: [ConfigMap],
    async reconcile({ spec }, { condition, apply }) {
      const isRaw = spec.value === "raw";
      condition({ type: "Progressing", status: isRaw ? "True" : "False", reason: "Value", message: spec.value });
      await apply(ConfigMap({ name: "only", data: { value: spec.value } }));
    },
  });
  const raw = Pair({ name: "a", spec: { value: "raw" } });
  const done = patch(Pair, "a", { spec: { value: "done" } });
  const laws = { ...quick, faults: ["A1"] } as const;
  const operator = defineOperator({ name: "waits", controllers: [waits] });
  await reconcilerLaws(operator, { ...laws, worlds: [story("goes on", unsettled(raw), done)] });
  const message = await messageOf(reconcilerLaws(operator, { ...laws, worlds: [story("stays", raw, done)] }));
  expect(message).toContain('breaks "converges"');
});

test("an invariant of the author is asked after every write", async () => {
  const one = invariant("one map at most", (world) => world.list(ConfigMap).length <= 1 || "there are two maps");
  const message = await messageOf(
    reconcilerLaws(pairs(true), { ...quick, worlds: [pair], oracles: [...allOracles, one] }),
  );
  expect(message).toContain(
    'breaks "one map at most" in the story "Pair "a" is applied", without any fault: there are two maps',
  );
});

testLaws(test, "a test of the laws has a time limit that fits its own", pairs(true), {
  ...quick,
  worlds: [pair],
  faults: ["A2"],
});

test("the time limit of a test of the laws follows from its seconds", () => {
  const limits: number[] = [];
  testLaws((_name, { timeout }) => limits.push(timeout), "pairs", pairs(true), { worlds: [pair], seconds: 300 });
  expect(limits).toEqual([360_000]);
});
