/**
 * Equal seeds, equal runs: here for some; `npm run determinism` compares ten thousand, also between two
 * versions of Node.
 */
import { Deployment } from "@setpoint/api";
import { expect, test } from "vitest";
import { candyOperator, Candy } from "./candy-operator.fixture.ts";
import { simulate } from "./index.ts";
import { buildStartState } from "./start-state.ts";

const labels = { app: "web" };
const web = Deployment({
  name: "web",
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } },
  },
});

async function hashOf(seed: number): Promise<string> {
  await using world = await simulate({
    seed,
    operators: [candyOperator],
    watchLagMsMax: 500,
    replicas: 2,
    clocks: [{ rate: 1.1 }, { rate: 0.9, offsetMs: 30_000 }],
  });
  await world.apply(web);
  await world.apply(Candy({ name: "lolly", spec: { flavors: ["mint", "lime"] } }));
  await world.run(seed * 37);
  world.pauseOperator(20_000, 0);
  world.failNode(`node-${seed % 3}`);
  await world.run(60_000);
  await world.recoverNode(`node-${seed % 3}`);
  await world.settled({ within: 600_000 });
  return world.traceHash();
}

/** A busy machine gives it a fraction of a core. */
const limitMs = 60_000;

test(
  "ten seeds run twice, the second time backwards, have equal traces, and no two seeds the same",
  async () => {
    const seeds = Array.from({ length: 10 }, (_, index) => index);
    const once = new Map<number, string>();
    for (const seed of seeds) once.set(seed, await hashOf(seed));
    const again = new Map<number, string>();
    for (const seed of seeds.toReversed()) again.set(seed, await hashOf(seed));
    for (const seed of seeds) expect(again.get(seed)).toBe(once.get(seed));
    expect(new Set(once.values()).size).toBe(seeds.length);
  },
  limitMs,
);

test("a start state is the same whenever it is made", async () => {
  const options = { operators: [candyOperator], nodeNames: ["node-0", "node-1"] };
  const first = await buildStartState(options);
  const second = await buildStartState(options);
  expect(second).toEqual(first);
  expect(JSON.stringify(second)).toBe(JSON.stringify(first));
});
