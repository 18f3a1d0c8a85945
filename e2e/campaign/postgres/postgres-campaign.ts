/** The campaign's clusters of PostgreSQL: clients with lists under fire, checked after each strike. */
import { setTimeout as delay } from "node:timers/promises";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PostgresCluster } from "@setpoint/postgres-operator";
import { chosen, pickDisaster } from "../disasters.ts";
import type { Engine, Life } from "../engine.ts";
import { strike, wholeMsMax } from "../strike.ts";
import type { Arena, Disaster } from "../target.ts";
import { AppendClients, type AppendHistory, createLists } from "./append-clients.ts";
import { judgeLosses } from "./declared-losses.ts";
import { FailoverPhases } from "./failover-phases.ts";
import { checkKnownBad } from "./known-bad.ts";
import { type Anomaly, findAnomalies } from "./list-append.ts";
import { postgresDisasters } from "./postgres-disasters.ts";
import { PostgresTarget } from "./postgres-target.ts";

const strikesPerLife = 12;
/** The first start may wait for an image. */
const startMsMax = 300_000;
const quietMs = 1_000;

type Replication = "synchronous" | "asynchronous";

export const postgresEngine: Engine = {
  name: "postgres",
  manifests: new URL("../../../operators/postgres/manifests/install.yaml", import.meta.url).pathname,
  words: { operations: "transactions", violations: "violations of serializability" },
  live,
  clear: async (life) => new PostgresTarget(life).remove(),
};

interface Stage {
  readonly life: Life;
  readonly arena: Arena<PostgresTarget>;
  readonly replication: Replication;
}

/** Every third cluster replicates asynchronously. */
async function live(life: Life): Promise<void> {
  const replication = life.number % 3 === 2 ? "asynchronous" : "synchronous";
  const target = new PostgresTarget(life);
  const arena = { target, network: life.network, disk: life.disk, pick: life.pick };
  await create(life, replication);
  await target.until(`the start of ${life.name}`, () => target.isSettled(), startMsMax);
  await createLists(await target.session(5_000));
  if (life.isFirst) await checkKnownBad({ arena, clients: clientsOf(arena), say: (line) => console.log(line) });
  await target.until("a whole cluster", () => target.isSettled(), wholeMsMax);
  const histories: AppendHistory[] = [];
  for (let i = 0; i < strikesPerLife && !life.isDone(); i++) {
    const disaster = pickDisaster<PostgresTarget>(chosen(postgresDisasters, life.only), life.pick);
    histories.push(await strikeOnce({ life, arena, replication }, disaster, `${life.name}/${i}/`));
  }
  await compareInstances(target, histories);
  await target.remove();
}

async function create({ client, name, namespace, number }: Life, replication: Replication): Promise<void> {
  const version = number % 2 === 0 ? "17" : "15";
  const synchronous = replication === "synchronous" ? { synchronous: { number: 1 } } : {};
  const spec = { version, storage: { size: "1Gi" }, ...synchronous } as const;
  await client.create(PostgresCluster, PostgresCluster({ name, namespace, spec }));
}

function clientsOf({ target, pick }: Arena<PostgresTarget>) {
  return { connect: (timeoutMs: number) => target.session(timeoutMs), pick };
}

/** A history of its own, so that what is lost belongs to this strike. */
async function strikeOnce(
  { life, arena, replication }: Stage,
  disaster: Disaster<PostgresTarget>,
  prefix: string,
): Promise<AppendHistory> {
  const { target } = arena;
  const { results } = life;
  await target.isSettled();
  target.takeDeclarations();
  await using clients = new AppendClients({ ...clientsOf(arena), prefix });
  await delay(quietMs);
  const phases = (): FailoverPhases => new FailoverPhases(target, () => clients.acknowledged);
  await strike({ arena, ledger: clients, results, of: replication, phases }, disaster);
  const history = await clients.finish();
  const anomalies = findAnomalies(history.transactions);
  const declarations = target.takeDeclarations();
  const { declared, undeclared } = judgeLosses(anomalies, history.positions, declarations);
  const violations =
    declared > 0 ? [] : anomalies.filter(isViolation).map(({ kind, message }) => `${kind}: ${message}`);
  const { acknowledged, transactions } = history;
  const lost = undeclared.length;
  results.add({ check: { acknowledged, lost, declared, operations: transactions.length, violations } });
  if (lost > 0 || violations.length > 0) {
    const what = [...undeclared.map(({ message }) => message), ...violations];
    const place = join(results.folder, `${prefix.replaceAll("/", "-")}history.json`);
    const facts = { disaster: disaster.name, declarations, what, positions: [...history.positions], transactions };
    writeFileSync(place, JSON.stringify(facts));
    throw new Error(`after "${disaster.name}": ${what.slice(0, 3).join("; ")}; the history is in ${place}`);
  }
  return history;
}

/**
 * A declared loss makes two histories of one, so what clients saw is judged only without one. A read by a
 * client that began on a primary without its lease may be old.
 */
function isViolation({ kind }: Anomaly): boolean {
  return kind !== "lost append" && kind !== "stale read";
}

/** All instances have the same lists, and no later strike took what an earlier one had left. */
async function compareInstances(target: PostgresTarget, histories: readonly AppendHistory[]): Promise<void> {
  const query = `select coalesce(sum(cardinality(appended)), 0), md5(string_agg(name || appended::text, ',' order by name)) from list where name like '${target.cluster.name}/%'`;
  const members = [await target.leader(), ...(await target.followers())];
  const areEqual = async (): Promise<boolean> => {
    const answers = await Promise.all(members.map((member) => target.sqlIn(member, query)));
    if (new Set(answers).size !== 1)
      throw new Error(`the instances differ: ${members.join(", ")} have ${answers.join(", ")}`);
    return true;
  };
  await target.until("equal instances", areEqual, wholeMsMax);
  const appends = histories.reduce((sum, history) => sum + appendsAtEnd(history), 0);
  const [count = ""] = (await target.sqlIn(members[0] ?? "", query)).split("|");
  if (Number(count) !== appends)
    throw new Error(`the lists have ${count} appends, they had ${appends} after the strikes`);
}

/** In the last transaction of a history, which reads all lists. */
function appendsAtEnd({ transactions }: AppendHistory): number {
  const { operations = [] } = transactions.at(-1) ?? {};
  return operations.reduce((sum, each) => sum + (each.kind === "read" ? each.values.length : 0), 0);
}
