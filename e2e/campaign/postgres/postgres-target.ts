/** A PostgresCluster as the campaign strikes it. */
import { setTimeout as delay } from "node:timers/promises";
import { isNotFound, messageOf } from "@setpoint/apimachinery";
import { PostgresCluster } from "@setpoint/postgres-operator";
import { PersistentVolumeClaim, Pod, Secret, Service } from "setpoint/kinds";
import { mirrorOnLoopback } from "../../../examples/etcd/tour/cluster-under-tour.ts";
import { PostgresUnderTour } from "../../../examples/postgres/tour/postgres-under-tour.ts";
import { commandLine, isOfPod, parentOf, processesWith } from "../../processes.ts";
import { signal } from "../disasters.ts";
import type { Life } from "../engine.ts";
import type { Target } from "../target.ts";
import type { SessionOptions } from "./postgres-session.ts";

const lookEveryMs = 100;
const leaderMsMax = 120_000;
const operatorPods = { namespace: "setpoint-system", labelSelector: "app.kubernetes.io/name=postgres-operator" };

export class PostgresTarget implements Target {
  readonly cluster: PostgresUnderTour;
  /** `lostAtMost` of the failovers that the status has shown, by their times. */
  readonly #declarations = new Map<string, string>();

  constructor({ client, kubeconfig, name, namespace }: Life) {
    this.cluster = new PostgresUnderTour({ client, kubeconfig, name, namespace, print: () => {} });
  }

  /** Those since the last call. */
  takeDeclarations(): readonly string[] {
    const taken = [...this.#declarations.values()];
    for (const at of this.#declarations.keys()) this.#declarations.set(at, "");
    return taken.filter((each) => each !== "");
  }

  async leader(): Promise<string> {
    let primary = "";
    const isFound = async (): Promise<boolean> => {
      primary = (await this.#look()).status?.primary ?? "";
      return primary !== "";
    };
    await this.until("a primary", isFound, leaderMsMax);
    return primary;
  }

  async followers(): Promise<readonly string[]> {
    const { status } = await this.#look();
    return (status?.members ?? []).map(({ name }) => name).filter((name) => name !== status?.primary);
  }

  /** The instance manager and all that it has started. */
  async processesOf(member: string): Promise<readonly number[]> {
    const manager = await this.managerOf(member);
    return manager === undefined ? [] : [manager, ...descendants(manager)];
  }

  async managerOf(member: string): Promise<number | undefined> {
    const { metadata } = await this.#pod(member);
    return processesWith(`program/manager/main.js ${member}`).find((pid) => isOfPod(pid, metadata.uid ?? ""));
  }

  /** The first process of the server. */
  async serverOf(member: string): Promise<number | undefined> {
    const processes = await this.processesOf(member);
    return processes.find((pid) => /(^|\/)postgres -D /.test(commandLine(pid)));
  }

  async addressOf(member: string): Promise<string> {
    const { status } = await this.#pod(member);
    if (status?.podIP === undefined) throw new Error(`pod ${member} has no address`);
    return status.podIP;
  }

  /** The other instances and the operator; clients on this machine still reach it. */
  async peersOf(member: string): Promise<readonly string[]> {
    const { items } = await this.cluster.client.listAll(Pod, operatorPods);
    const operators = items.flatMap(({ status }) => (status?.podIP === undefined ? [] : [status.podIP]));
    return [...(await this.replicasOf(member)), ...operators];
  }

  /** The addresses of the other instances. */
  async replicasOf(member: string): Promise<readonly string[]> {
    const { status } = await this.#look();
    const names = (status?.members ?? []).map(({ name }) => name).filter((name) => name !== member);
    return Promise.all(names.map((name) => this.addressOf(name)));
  }

  /**
   * With its pod, so that its Deployment makes another one: the kubelet waits longer and longer before it
   * starts a container again.
   */
  async killOperator(): Promise<void> {
    const { client } = this.cluster;
    const { items } = await client.listAll(Pod, operatorPods);
    for (const { metadata } of items) {
      const { name, namespace = "", uid } = metadata;
      for (const pid of processesWith("operator").filter((each) => isOfPod(each, uid))) signal(pid, "SIGKILL");
      await client.delete(Pod, { name, namespace }, { gracePeriodSeconds: 0 });
    }
  }

  async isSettled(): Promise<boolean> {
    const { spec, status, metadata } = await this.#look();
    if (status?.phase !== "Running" || status.observedGeneration !== metadata.generation) return false;
    return status.readyInstances === spec.instances && status.primary !== undefined && status.waitingFor === undefined;
  }

  async until(what: string, holds: () => Promise<boolean>, withinMs: number): Promise<void> {
    let last = "";
    for (const endMs = performance.now() + withinMs; performance.now() < endMs; await delay(lookEveryMs)) {
      if (await holds().catch((error: unknown) => void (last = `; the last attempt failed: ${messageOf(error)}`)))
        return;
    }
    const { specInForce: _spec, conditions: _conditions, ...status } = (await this.cluster.get()).status ?? {};
    throw new Error(`${what} did not happen within ${withinMs / 1_000} s; ${JSON.stringify(status)}${last}`);
  }

  /** How this machine reaches the Service of the primary, with the login of the Secret. */
  async session(timeoutMs: number): Promise<SessionOptions> {
    const { client, name, namespace } = this.cluster;
    const service = await client.get(Service, { name: `${name}-rw`, namespace });
    const { data = {} } = await client.get(Secret, { name: `${name}-app`, namespace });
    const text = (key: string): string => Buffer.from(data[key] ?? "", "base64").toString();
    const host = mirrorOnLoopback(service.spec?.clusterIP ?? "");
    const login = { user: text("username"), password: text("password"), database: text("dbname") };
    return { host, port: Number(text("port")), ...login, timeoutMs };
  }

  /** As the superuser on one instance. */
  sqlIn(member: string, statement: string): Promise<string> {
    const psql = ["psql", "-h", "/run/setpoint/socket", "-U", "postgres", "-d", "app", "-Atqc", statement];
    return this.cluster.inPod(member, psql, "postgres");
  }

  /** Resolves when nothing of the cluster is left. */
  async remove(): Promise<void> {
    const { client, name, namespace } = this.cluster;
    await client.delete(PostgresCluster, this.cluster).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
    const labelSelector = `postgres.setpoint.dev/cluster=${name}`;
    const isGone = async (): Promise<boolean> => {
      const pods = await client.listAll(Pod, { namespace, labelSelector });
      const claims = await client.listAll(PersistentVolumeClaim, { namespace, labelSelector });
      return pods.items.length + claims.items.length === 0;
    };
    await this.until(`the end of ${name}`, isGone, leaderMsMax);
  }

  async #look(): Promise<PostgresCluster> {
    const cluster = await this.cluster.get();
    const { at, lostAtMost } = cluster.status?.lastFailover ?? {};
    if (at !== undefined && !this.#declarations.has(at)) this.#declarations.set(at, lostAtMost ?? "");
    return cluster;
  }

  #pod(member: string): Promise<Pod> {
    return this.cluster.client.get(Pod, { name: member, namespace: this.cluster.namespace });
  }
}

/** On this machine, whichever namespace they are in. */
function descendants(pid: number): readonly number[] {
  const children = processesWith("").filter((each) => parentOf(each) === pid);
  return children.flatMap((child) => [child, ...descendants(child)]);
}
