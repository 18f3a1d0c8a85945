/**
 * Shows that the checker finds real faults of a real server: isolation levels that are not serializable, and
 * commits that were acknowledged before anything had them. A campaign that finds nothing says something only
 * after this.
 */
import { setTimeout as delay } from "node:timers/promises";
import { wholeMsMax } from "../strike.ts";
import type { Arena } from "../target.ts";
import { AppendClients, type ClientOptions } from "./append-clients.ts";
import { type AnomalyKind, findAnomalies } from "./list-append.ts";
import { killAhead } from "./postgres-disasters.ts";
import type { PostgresTarget } from "./postgres-target.ts";
import type { Transaction } from "./transaction.ts";

const lookMs = 3_000;
const lookMsMax = 60_000;
const attemptsMax = 5;

export interface KnownBad {
  readonly clients: Omit<ClientOptions, "prefix">;
  readonly arena: Arena<PostgresTarget>;
  readonly say: (line: string) => void;
}

/** Throws when the checker finds nothing. */
export async function checkKnownBad({ clients, arena, say }: KnownBad): Promise<void> {
  const serializable = await observe({ ...clients, prefix: "good/" });
  const wrong = findAnomalies(serializable);
  if (wrong.length > 0) throw new Error(`the checker finds ${wrong[0]?.kind} where nothing was done`);
  for (const [isolation, expected] of [
    ["READ COMMITTED", ["G-single", "G2"]],
    ["REPEATABLE READ", ["G2"]],
  ] as const) {
    const kinds = await untilFound({ ...clients, isolation }, expected);
    say(`The checker finds ${kinds} at ${isolation}, and nothing at SERIALIZABLE`);
  }
  say(`The checker finds ${await loseCommits(clients, arena)} appends that synchronous_commit = off has lost`);
}

/** Looks at longer and longer histories. */
async function untilFound(clients: Omit<ClientOptions, "prefix">, expected: readonly AnomalyKind[]): Promise<string> {
  for (let ms = lookMs; ms < lookMsMax; ms *= 2) {
    const anomalies = findAnomalies(await observe({ ...clients, prefix: `${clients.isolation}/${ms}/` }, ms));
    const kinds = new Set(anomalies.map(({ kind }) => kind));
    if (expected.some((each) => kinds.has(each))) return [...kinds].join(", ");
  }
  throw new Error(`the checker finds none of ${expected.join(", ")} at ${clients.isolation}`);
}

async function observe(clients: ClientOptions, ms: number = lookMs): Promise<readonly Transaction[]> {
  await using running = new AppendClients(clients);
  await delay(ms);
  return (await running.finish()).transactions;
}

/** The former primary may be back before another one takes its place; then nothing is lost. */
async function loseCommits(clients: Omit<ClientOptions, "prefix">, arena: Arena<PostgresTarget>): Promise<number> {
  const { target } = arena;
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const options = { ...clients, prefix: `off/${attempt}/`, setting: "set synchronous_commit = off" };
    await using running = new AppendClients(options);
    await delay(lookMs);
    await killAhead(arena);
    await target.until("a whole cluster", () => target.isSettled(), wholeMsMax);
    const { transactions } = await running.finish();
    const lost = findAnomalies(transactions).filter(({ kind }) => kind === "lost append");
    if (lost.length > 0) return lost.length;
  }
  throw new Error("the checker does not find commits that were lost");
}
