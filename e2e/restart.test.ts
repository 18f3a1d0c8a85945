/**
 * `npm start` ends by ^C and by `kill -9` while a client writes. No process stays behind, and the next start
 * finds all data again.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@setpoint/client";
import { connect } from "@setpoint/client/node";
import { sleep } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { expect, onTestFinished, test } from "vitest";
import { ClusterUnderTour } from "../examples/etcd/tour/cluster-under-tour.ts";
import { etcdClient, type EtcdEndpoint } from "../examples/etcd/tour/etcd-client.ts";
import { LedgerWriter } from "../examples/etcd/tour/ledger-writer.ts";
import { StartProcess } from "./restart/start-process.ts";
import { mountsWith, processesWith } from "./processes.ts";
import { socketsOf } from "./restart/sockets.ts";

const host = systemHost();
/** How long writes may fail around a kill. */
const outageMsMax = 10_000;

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-restart-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function started(directory: string): StartProcess {
  const start = new StartProcess(directory);
  onTestFinished(() => start[Symbol.asyncDispose]());
  return start;
}

interface Connection extends AsyncDisposable {
  readonly cluster: ClusterUnderTour;
}

/** The example's cluster, as a user with the kubeconfig sees it. */
function connectTo(directory: string): Connection {
  const transport = connect({ clock: host.clock, kubeconfig: join(directory, "kubeconfig") });
  const operator = { name: "etcd-operator", namespace: "setpoint-system" };
  return {
    cluster: new ClusterUnderTour(createClient(transport, host), "orders", "default", operator),
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  };
}

/** Processes and mounts that belong to the folder, and what still listens on its addresses. */
function remains(directory: string): readonly string[] {
  const block = Number(readFileSync(join(directory, "service-block"), "utf8"));
  return [
    ...processesWith(directory).map((pid) => `process ${pid}`),
    ...mountsWith(directory).map((path) => `mount ${path}`),
    ...socketsOf(block).map((address) => `socket ${address}`),
  ];
}

async function memberIds(cluster: ClusterUnderTour): Promise<readonly string[]> {
  return (await cluster.etcdMembers()).map(({ id, name }) => `${name} ${id}`).sort();
}

/** A majority came back on its volumes; the rest may have been replaced when that majority was back first. */
async function expectQuorumOf(members: readonly string[], cluster: ClusterUnderTour): Promise<void> {
  const present = await memberIds(cluster);
  expect(present).toHaveLength(members.length);
  expect(present.filter((each) => members.includes(each)).length).toBeGreaterThan(members.length / 2);
}

test("^C leaves no process, no mount and no socket, and the next start finds cluster and keys", async () => {
  const directory = temporaryFolder();
  const first = started(directory);
  await first.untilReady();
  let members: readonly string[] = [];
  {
    await using connection = connectTo(directory);
    const etcd = etcdClient(await connection.cluster.clientEndpoint(), 5_000);
    await etcd.put("greeting", "hello");
    etcd.close();
    members = await memberIds(connection.cluster);
  }
  expect(remains(directory).length).toBeGreaterThan(5);
  expect(await first.interrupt()).toBe(0);
  expect(remains(directory)).toEqual([]);

  const second = started(directory);
  await second.untilReady();
  await using connection = connectTo(directory);
  await connection.cluster.until("the cluster at rest", () => connection.cluster.isSettled(3));
  const etcd = etcdClient(await connection.cluster.clientEndpoint(), 5_000);
  expect(await etcd.get("greeting")).toBe("hello");
  etcd.close();
  await expectQuorumOf(members, connection.cluster);
  await second.interrupt();
  expect(remains(directory)).toEqual([]);
});

/** Whether a write is acknowledged; each try has a connection of its own. */
async function isWritten(endpoint: EtcdEndpoint): Promise<boolean> {
  const etcd = etcdClient(endpoint, 5_000);
  try {
    await etcd.put("greeting", "still here");
    return true;
  } catch {
    return false;
  } finally {
    etcd.close();
  }
}

/** The node agents of the cluster: processes of the command that belong to the main process. */
function agentsOf(main: number): readonly number[] {
  return processesWith("setpoint.mjs node").filter((pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === main;
  });
}

test("kills of agents and of the main process cost an etcd cluster nothing: its members go on, no acknowledged key is lost", async () => {
  const directory = temporaryFolder();
  const first = started(directory);
  await first.untilReady();
  let members: readonly string[] = [];
  let writer: LedgerWriter;
  {
    await using connection = connectTo(directory);
    members = await memberIds(connection.cluster);
    writer = new LedgerWriter(await connection.cluster.clientEndpoint());
    await connection.cluster.until("some writes", async () => writer.acknowledged > 50);
    for (const agent of agentsOf(first.pid)) {
      process.kill(agent, "SIGKILL");
      const isBack = (): boolean => agentsOf(first.pid).some((pid) => pid !== agent);
      await expect.poll(isBack, { timeout: 10_000 }).toBe(true);
      const acknowledged = writer.acknowledged;
      await connection.cluster.until("writes again", async () => writer.acknowledged > acknowledged + 20);
    }
    await first.kill();
  }

  const second = started(directory);
  await second.untilReady();
  await using connection = connectTo(directory);
  await connection.cluster.until("the cluster at rest", () => connection.cluster.isSettled(3));
  const acknowledged = writer.acknowledged;
  await connection.cluster.until("writes again", async () => writer.acknowledged > acknowledged + 20);
  const { lost, longestGapMs } = await writer.finish();
  expect(lost).toEqual([]);
  expect(longestGapMs).toBeLessThan(outageMsMax);
  expect(await memberIds(connection.cluster)).toEqual(members);
  await second.interrupt();
  expect(remains(directory)).toEqual([]);
});

test("after a kill of the main process that nobody starts again, members go on for a minute, and then nothing is left", async () => {
  const directory = temporaryFolder();
  const first = started(directory);
  await first.untilReady();
  let endpoint: EtcdEndpoint;
  {
    await using connection = connectTo(directory);
    endpoint = await connection.cluster.clientEndpoint();
  }
  const { pid: network } = JSON.parse(readFileSync(join(directory, "network-namespace.json"), "utf8")) as {
    pid: number;
  };
  // The agent may learn of the Service's endpoints a moment after the cluster reports that it is ready; after
  // the kill it learns nothing.
  await expect.poll(() => isWritten(endpoint), { timeout: 20_000, interval: 500 }).toBe(true);
  await first.kill();
  await sleep(host.clock, 20_000);
  // A leader that is elected at this moment is not an end of the members.
  await expect.poll(() => isWritten(endpoint), { timeout: 20_000, interval: 500 }).toBe(true);
  // The rest of the minute, and the time that pods may take to end.
  await expect.poll(() => remains(directory), { timeout: 80_000, interval: 1_000 }).toEqual([]);
  // The agent ends it after its pods.
  await expect.poll(() => existsSync(`/proc/${network}`), { timeout: 20_000 }).toBe(false);
});
