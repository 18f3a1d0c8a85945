/** The steps of the tour: each proves one promise of the operator and returns what it measured. */
import { readdirSync, readFileSync } from "node:fs";
import { Backup, Restore, ServiceBinding } from "@setpoint/data-service";
import { PostgresCluster } from "@setpoint/postgres-operator";
import { Pod, Secret } from "setpoint/kinds";
import type { LedgerWriter } from "./ledger-writer.ts";
import type { PostgresUnderTour } from "./postgres-under-tour.ts";

export interface PostgresStep {
  readonly name: string;
  run(cluster: PostgresUnderTour, writer: LedgerWriter): Promise<string>;
}

export const store = "vault";
export const backupName = "tour";
const binding = "tour-shop";

/** The PostgresCluster that the tour restores into. */
export function copyOf({ name }: PostgresUnderTour): string {
  return `${name}-copy`;
}

function instanceOf({ name }: PostgresUnderTour): { apiGroup: string; kind: string; name: string } {
  return { apiGroup: "postgres.setpoint.dev", kind: "PostgresCluster", name };
}

const seconds = (value: number): string => `${value.toFixed(1)} s`;

export const backUp: PostgresStep = {
  name: "back up, and read the backup back",
  async run(cluster) {
    const { client, namespace } = cluster;
    await client.create(
      Backup,
      Backup({ name: backupName, namespace, spec: { instance: instanceOf(cluster), store } }),
    );
    const { status } = await cluster.succeeded(Backup, backupName);
    return `up to position ${status?.position}, verified`;
  },
};

export const killPrimary: PostgresStep = {
  name: "kill -9 the primary",
  async run(cluster, writer) {
    const before = await cluster.primary();
    await writer.mark();
    const pod = await cluster.client.get(Pod, { name: before, namespace: cluster.namespace });
    process.kill(processOf(before, pod.metadata.uid ?? ""), "SIGKILL");
    const pause = await writer.pauseSeconds();
    const { primary, members } = await cluster.settled();
    return `longest pause between writes ${seconds(pause)}, ${members.length} ready again, ${before} → ${primary}`;
  },
};

/**
 * The instance manager is the parent of PostgreSQL, which ends with it. Another cluster on this machine may
 * have an instance of the same name, so the pod must be this one: its UID is in the control group or a mount.
 */
function processOf(instance: string, podUid: string): number {
  const found = readdirSync("/proc").find((entry) => /^\d+$/.test(entry) && isManagerOf(entry, instance, podUid));
  if (found === undefined) throw new Error(`No process of the instance "${instance}" on this machine`);
  return Number(found);
}

function isManagerOf(pid: string, instance: string, podUid: string): boolean {
  try {
    const args = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    if (!args.some((arg) => arg.endsWith("program/manager/main.js")) || !args.includes(instance)) return false;
    return ["cgroup", "mountinfo"].some((file) => readFileSync(`/proc/${pid}/${file}`, "utf8").includes(podUid));
  } catch {
    return false; // It ended while we looked.
  }
}

export const switchover: PostgresStep = {
  name: "hand over to another instance",
  async run(cluster, writer) {
    const { primary = "", members } = await cluster.settled();
    const wanted = members.find(({ name }) => name !== primary)?.name ?? "";
    await writer.mark();
    const annotations = { "postgres.setpoint.dev/switchover-to": wanted };
    await cluster.client.patch(PostgresCluster, cluster, { metadata: { annotations } });
    const status = await cluster.settled(primary);
    if (status.primary !== wanted) throw new Error(`${status.primary} is the primary, ${wanted} was asked for`);
    return `${primary} → ${wanted}, longest pause between writes ${seconds(await writer.pauseSeconds())}`;
  },
};

export const changeSettings: PostgresStep = {
  name: "change a setting that needs restarts",
  async run(cluster, writer) {
    const former = await cluster.primary();
    await writer.mark();
    await cluster.patchSpec({ parameters: { max_connections: "120" } });
    const { primary } = await cluster.until("max_connections to be 120", async () => {
      const status = await cluster.settled();
      return (await cluster.sql("show max_connections")) === "120" ? status : undefined;
    });
    return `replicas first, then ${former} → ${primary}, longest pause between writes ${seconds(await writer.pauseSeconds())}`;
  },
};

export const bind: PostgresStep = {
  name: "bind an application",
  async run(cluster, writer) {
    const { client, namespace } = cluster;
    const spec = { instance: instanceOf(cluster), rights: { app: "readonly" } };
    await client.create(ServiceBinding, ServiceBinding({ name: binding, namespace, spec }));
    const uri = await cluster.until(`the login of ServiceBinding "${binding}"`, async () => {
      const { data = {} } = await client.get(Secret, { name: binding, namespace });
      return data["uri"] === undefined ? undefined : Buffer.from(data["uri"], "base64").toString();
    });
    const count = await writer.sqlWith(uri, "select count(*) from ledger");
    const refusal = await refusalOf(writer.sqlWith(uri, "insert into ledger values (-1)"));
    if (!refusal.includes("permission denied"))
      throw new Error(`the answer to a login that may only read is "${refusal}"`);
    await client.delete(ServiceBinding, { name: binding, namespace });
    await cluster.until("the end of the login", async () =>
      (await refusalOf(writer.sqlWith(uri, "select 1"))) === "" ? undefined : true,
    );
    return `reads ${count} rows, may not write, and is refused after its end`;
  },
};

/** Empty when it was accepted. */
async function refusalOf(statement: Promise<string>): Promise<string> {
  return statement.then(
    () => "",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

export const restoreToMoment: PostgresStep = {
  name: "drop a table, and restore the moment before into a new cluster",
  async run(cluster) {
    const { client, namespace } = cluster;
    await cluster.sql("create table price (item text, euros int); insert into price values ('tea', 3), ('cup', 7)");
    const rows = await cluster.sql("select * from price order by item");
    const time = await cluster.sql(
      `select to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
    );
    await cluster.sql("drop table price");
    const end = await cluster.sql("select extract(epoch from clock_timestamp())");
    await cluster.sql("select pg_switch_wal()");
    await cluster.until("the log in the archive", async () => {
      const { status } = await cluster.get();
      return Date.parse(status?.archive?.window?.to ?? "") / 1_000 >= Number(end) ? true : undefined;
    });
    const name = copyOf(cluster);
    const source = { archive: { store } };
    const spec = {
      instance: instanceOf(cluster),
      source,
      target: { time },
      newInstance: { name, spec: { instances: 2 } },
    };
    await client.create(Restore, Restore({ name, namespace, spec }));
    await cluster.succeeded(Restore, name);
    const copy = cluster.beside(name);
    await copy.settled();
    const restored = await copy.sql("select * from price order by item");
    if (restored !== rows) throw new Error(`The table was "${rows}", and is "${restored}" in the copy`);
    return `${time}: the table is there with its ${rows.split("\n").length} rows`;
  },
};

/** In order; the writer runs under all of them. */
export const steps: readonly PostgresStep[] = [backUp, killPrimary, switchover, changeSettings, bind, restoreToMoment];
