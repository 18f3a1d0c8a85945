/**
 * Inside the cluster's network namespace: PostgreSQL with an archive, a writer with a ledger, a crash, a
 * switchover, a backup and a restore to a moment. `postgres-tour.ts DIR`
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@setpoint/client";
import { connect } from "@setpoint/client/node";
import { systemHost } from "@setpoint/host/system";
import { instanceOf, PostgresPlayground } from "../postgres/playground.ts";
import { createLocalVolumes } from "./volumes.ts";

const name = "orders";
const vault = "vault";
/** Three instances, the store, and the copies of a restore. */
const volumes = 8;

const startedMs = performance.now();
const print = (line: string): void =>
  console.log(`  ok ${((performance.now() - startedMs) / 1000).toFixed(1).padStart(7)} s  ${line}`);

const [directory = ""] = process.argv.slice(2);
const kubeconfig = join(directory, "kubeconfig");

async function prepareVolumes(): Promise<void> {
  const host = systemHost({ write: (line) => void process.stderr.write(line) });
  await using transport = connect({ clock: host.clock, kubeconfig, userAgent: "setpoint-e2e" });
  await createLocalVolumes(createClient(transport, host), directory, volumes);
}

function expect(holds: boolean, what: string): void {
  if (!holds) throw new Error(`Expected ${what}`);
  print(what);
}

async function tour(playground: PostgresPlayground): Promise<void> {
  await playground.createStore(vault, "1Gi");
  await playground.create({
    apiVersion: "postgres.setpoint.dev/v1",
    kind: "PostgresCluster",
    metadata: { name },
    spec: {
      version: "15",
      instances: 3,
      storage: { size: "1Gi" },
      synchronous: { number: 1 },
      archive: { store: vault },
    },
  });
  print("three instances are ready");
  await playground.startWriter(name, "15");
  const backup = await playground.ended("Backup", "base", { instance: instanceOf(name), store: vault });
  expect(backup.phase === "Succeeded", `a backup up to ${backup.position ?? backup.message}, verified`);

  const first = (await playground.get(name)).status?.primary ?? "";
  await playground.killProcess(first);
  await playground.restarted(first);
  const second = (await playground.settled(name)).status?.primary ?? "";
  print(`the process of ${first} was killed, ${second} is the primary`);

  const wanted = [1, 2, 3].map((number) => `${name}-${number}`).find((each) => each !== second) ?? "";
  await playground.kubectl.ok(`annotate postgrescluster ${name} postgres.setpoint.dev/switchover-to=${wanted}`);
  const switched = await playground.settled(name, undefined, second);
  expect(switched.status?.primary === wanted, `a switchover to ${wanted}`);

  const { count, missing, pause } = await playground.finish(name);
  expect(missing.length === 0, `${count} writes acknowledged, 0 lost, longest pause ${pause.toFixed(1)} s`);

  const position = (await playground.sqlIn(wanted, "app", "select pg_switch_wal()")).trim();
  const rows = await playground.sqlIn(wanted, "app", "select count(*), sum(n) from ledger");
  const restored = await playground.ended("Restore", "copy", {
    instance: instanceOf(name),
    source: { archive: { store: vault } },
    newInstance: { name: "copy", spec: { instances: 2 } },
  });
  expect(restored.phase === "Succeeded", `the archive up to ${position} is restored ${restored.message ?? ""}`);
  const copy = (await playground.settled("copy")).status?.primary ?? "";
  const copied = await playground.sqlIn(copy, "app", "select count(*), sum(n) from ledger");
  expect(copied === rows, `the copy has the same rows: ${copied.trim()}`);
}

await prepareVolumes();
await using playground = await PostgresPlayground.on(readFileSync(kubeconfig, "utf8"));
await tour(playground);
