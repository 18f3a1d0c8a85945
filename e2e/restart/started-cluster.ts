/** An `npm start` that a test ends and starts again, its cluster, and what must not remain of it. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@setpoint/client";
import { connect } from "@setpoint/client/node";
import { systemHost } from "@setpoint/host/system";
import { expect, onTestFinished } from "vitest";
import { ClusterUnderTour } from "../../examples/etcd/tour/cluster-under-tour.ts";
import { mountsWith, processesWith } from "../processes.ts";
import { socketsOf } from "./sockets.ts";
import { StartProcess } from "./start-process.ts";

const host = systemHost();

/** A folder for one test, removed after it. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-restart-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** `npm start` with its data in the folder; it is stopped after the test. */
export function started(directory: string): StartProcess {
  const start = new StartProcess(directory);
  onTestFinished(() => start[Symbol.asyncDispose]());
  return start;
}

export interface Connection extends AsyncDisposable {
  readonly cluster: ClusterUnderTour;
}

/** The example's cluster, as a user with the kubeconfig sees it. */
export function connectTo(directory: string): Connection {
  const transport = connect({ clock: host.clock, kubeconfig: join(directory, "kubeconfig") });
  const operator = { name: "etcd-operator", namespace: "setpoint-system" };
  return {
    cluster: new ClusterUnderTour(createClient(transport, host), "orders", "default", operator),
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  };
}

/** Processes and mounts that belong to the folder, and what still listens on its addresses. */
export function remains(directory: string): readonly string[] {
  const block = Number(readFileSync(join(directory, "service-block"), "utf8"));
  return [
    ...processesWith(directory).map((pid) => `process ${pid}`),
    ...mountsWith(directory).map((path) => `mount ${path}`),
    ...socketsOf(block).map((address) => `socket ${address}`),
  ];
}

/** Names and IDs of the members, sorted. */
export async function memberIds(cluster: ClusterUnderTour): Promise<readonly string[]> {
  return (await cluster.etcdMembers()).map(({ id, name }) => `${name} ${id}`).sort();
}

/** A majority came back on its volumes; the rest may have been replaced when that majority was back first. */
export async function expectQuorumOf(members: readonly string[], cluster: ClusterUnderTour): Promise<void> {
  const present = await memberIds(cluster);
  expect(present).toHaveLength(members.length);
  expect(present.filter((each) => members.includes(each)).length).toBeGreaterThan(members.length / 2);
}
