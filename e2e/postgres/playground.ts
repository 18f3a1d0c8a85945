/** An embedded cluster with the PostgreSQL operator, and a PostgresCluster under a writer with a ledger. */
import { startCluster } from "@setpoint/cli";
import {
  type Acknowledgement,
  acknowledgements,
  ledgerPodName,
  ledgerPodSpec,
  longestPause,
} from "../../examples/postgres/tour/ledger-pod.ts";
import { Kubectl } from "../kubectl/kubectl.ts";
import { isOfPod, processesWith } from "../processes.ts";
import { eventually } from "./eventually.ts";

const manifests = new URL("../../operators/postgres/manifests/install.yaml", import.meta.url).pathname;
/** The first start may wait for an image. */
const startMsMax = 300_000;
const settleMsMax = 120_000;
const removalMsMax = 60_000;

/** What the tests read of a PostgresCluster. */
export interface ClusterState {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: { readonly version: string; readonly instances: number };
  readonly status?: {
    readonly phase: string;
    readonly primary?: string;
    readonly term?: number;
    readonly readyInstances: number;
    readonly waitingFor?: { readonly what: string };
    readonly fencing?: { readonly members: readonly { readonly name: string; readonly state: string }[] };
    readonly lastFailover?: { readonly from: string; readonly to: string };
    readonly lastSwitchover?: { readonly from: string; readonly to: string };
    readonly archive?: {
      readonly window?: { readonly from: string; readonly to: string; readonly end: string; readonly timeline: number };
      readonly gaps?: readonly { readonly timeline: number; readonly from: string; readonly to: string }[];
      readonly failing?: { readonly message: string };
      readonly lastArchived?: { readonly name: string };
    };
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[];
  };
}

/** What the tests read of a Backup or a Restore. */
export interface EndedStatus {
  readonly phase: string;
  readonly message?: string;
  readonly position?: string;
  readonly engineVersion?: string;
  readonly recoverySeconds?: number;
}

function dataKind(kind: string, name: string): { apiVersion: string; kind: string; metadata: { name: string } } {
  return { apiVersion: "data.setpoint.dev/v1", kind, metadata: { name } };
}

/** A PostgresCluster as a Backup or a Restore refers to it. */
export function instanceOf(name: string): object {
  return { apiGroup: "postgres.setpoint.dev", kind: "PostgresCluster", name };
}

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: object;
}

export class PostgresPlayground implements AsyncDisposable {
  readonly kubectl: Kubectl;
  readonly #parts: AsyncDisposableStack;

  private constructor(kubectl: Kubectl, parts: AsyncDisposableStack) {
    this.kubectl = kubectl;
    this.#parts = parts;
  }

  /** On an embedded cluster of its own. */
  static async open(): Promise<PostgresPlayground> {
    await using parts = new AsyncDisposableStack();
    const cluster = parts.use(await startCluster({ directory: undefined, port: 0, nodes: 1, say: console.log }));
    return PostgresPlayground.#install(cluster.kubeconfig, parts.move());
  }

  /** On a cluster that there is; it is left with the operator. */
  static async on(kubeconfig: string): Promise<PostgresPlayground> {
    return PostgresPlayground.#install(kubeconfig, new AsyncDisposableStack());
  }

  static async #install(kubeconfig: string, owned: AsyncDisposableStack): Promise<PostgresPlayground> {
    await using parts = owned;
    const kubectl = parts.use(new Kubectl(kubeconfig));
    await kubectl.ok(`apply --server-side -f ${manifests}`);
    await kubectl.ok("wait --for=condition=Available deployment/postgres-operator -n setpoint-system --timeout=60s");
    return new PostgresPlayground(kubectl, parts.move());
  }

  /** Creates a cluster and waits until all its instances are ready. */
  async create(manifest: Manifest): Promise<void> {
    await this.kubectl.ok("apply -f -", [], { input: JSON.stringify(manifest) });
    await this.settled(manifest.metadata.name, startMsMax);
  }

  async get(name: string): Promise<ClusterState> {
    return JSON.parse(await this.kubectl.ok(`get postgrescluster ${name} -o json`)) as ClusterState;
  }

  /** All instances are ready, under the new primary when `former` is given. */
  async settled(name: string, timeout = settleMsMax, former?: string): Promise<ClusterState> {
    return eventually(async () => {
      const cluster = await this.get(name);
      const { phase, primary, readyInstances } = cluster.status ?? {};
      const isSettled =
        phase === "Running" && readyInstances === cluster.spec.instances && primary !== undefined && primary !== former;
      if (!isSettled) throw new Error(`${name} has not settled: ${JSON.stringify(cluster.status)}`);
      return cluster;
    }, timeout);
  }

  /** Ends the process of an instance, manager and server, as a kernel without memory does. */
  async killProcess(instance: string): Promise<void> {
    // Another cluster on this machine may have an instance of the same name.
    const uid = (await this.kubectl.ok(`get pod ${instance} -o jsonpath={.metadata.uid}`)).trim();
    const pid = processesWith(`program/manager/main.js ${instance}`).find((each) => isOfPod(each, uid));
    if (pid === undefined) throw new Error(`Cannot kill the process of ${instance}: none runs`);
    process.kill(pid, "SIGKILL");
  }

  /** The kubelet has started the container of an instance again. */
  async restarted(instance: string): Promise<void> {
    const count = `get pod ${instance} -o jsonpath={.status.containerStatuses[?(@.name=="postgres")].restartCount}`;
    await eventually(async () => {
      if ((await this.kubectl.ok(count)) === "0") throw new Error(`${instance} has not restarted`);
    }, settleMsMax);
  }

  /** One statement as the application, by the Service of the primary or of the replicas. */
  sql(name: string, service: "rw" | "ro", statement: string): Promise<string> {
    const uri = `\${URI%${name}-rw*}${name}-${service}\${URI#*${name}-rw}`;
    return this.#inWriter(name, `psql "${uri}&connect_timeout=5" -v ON_ERROR_STOP=1 -Atqc '${statement}'`);
  }

  /** Statements as the superuser over the socket of one instance. */
  sqlIn(instance: string, database: string, statement: string): Promise<string> {
    const command = ["psql", "-h", "/run/setpoint/socket", "-U", "postgres", "-d", database, "-Atqc", statement];
    return this.kubectl.ok(`exec ${instance} -c postgres --`, command);
  }

  /** Writes numbers until it is stopped, and logs each one that was acknowledged. */
  async startWriter(name: string, version: string): Promise<void> {
    const metadata = { name: ledgerPodName(name) };
    const pod = { apiVersion: "v1", kind: "Pod", metadata, spec: ledgerPodSpec(name, version) };
    await this.kubectl.ok("apply -f -", [], { input: JSON.stringify(pod) });
    await eventually(async () => {
      if ((await this.acknowledged(name)).length === 0) throw new Error("The writer has written nothing");
    }, settleMsMax);
  }

  async acknowledged(name: string): Promise<readonly Acknowledgement[]> {
    return acknowledgements(await this.kubectl.ok(`logs ${ledgerPodName(name)}`));
  }

  /** Between two acknowledgements, in seconds; `from` counts those that came before what is of interest. */
  async longestPause(name: string, from: number): Promise<string> {
    return longestPause((await this.acknowledged(name)).slice(Math.max(0, from - 1))).toFixed(1);
  }

  /** Stops writing; says which acknowledged numbers the database lacks, and the longest pause in seconds. */
  async finish(
    name: string,
  ): Promise<{ readonly count: number; readonly missing: readonly number[]; readonly pause: number }> {
    await this.#inWriter(name, "touch /tmp/stop");
    const writes = await this.acknowledged(name);
    const rows = await this.sql(name, "rw", "select n from ledger");
    const present = new Set(rows.split("\n").map(Number));
    await this.kubectl.ok(`delete pod ${ledgerPodName(name)} --wait=false`);
    return {
      count: writes.length,
      missing: writes.map(({ n }) => n).filter((n) => !present.has(n)),
      pause: longestPause(writes),
    };
  }

  /** A claim in which backups are stored. */
  async createStore(name: string, size = "2Gi"): Promise<void> {
    const metadata = { name, labels: { "data.setpoint.dev/backup-store": "true" } };
    const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: size } } };
    const objects = [
      { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec: claim },
      { ...dataKind("BackupStore", name), spec: { claim: { claimName: name } } },
    ];
    await this.apply(...objects);
  }

  async apply(...objects: readonly object[]): Promise<void> {
    await this.kubectl.ok("apply -f -", [], {
      input: JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }),
    });
  }

  /** Creates a Backup or a Restore; its status when it has ended. */
  async ended(kind: "Backup" | "Restore", name: string, spec: object): Promise<EndedStatus> {
    await this.apply({ ...dataKind(kind, name), spec });
    return eventually(async () => {
      const { status } = JSON.parse(await this.kubectl.ok(`get ${kind} ${name} -o json`)) as { status?: EndedStatus };
      if (status?.phase !== "Succeeded" && status?.phase !== "Failed")
        throw new Error(`${kind} ${name} has not ended: ${JSON.stringify(status)}`);
      return status;
    }, settleMsMax);
  }

  /** Deletes a cluster, and waits until nothing of it is left. */
  async remove(name: string): Promise<void> {
    await this.kubectl.ok(`delete postgrescluster ${name}`);
    await eventually(async () => {
      const left = await this.kubectl.ok(
        `get pods,pvc,secrets,services,pdb -l postgres.setpoint.dev/cluster=${name} -o name`,
      );
      if (left.trim() !== "") throw new Error(`Left of ${name}: ${left}`);
    }, removalMsMax);
  }

  #inWriter(name: string, script: string): Promise<string> {
    return this.kubectl.ok(`exec ${ledgerPodName(name)} --`, ["sh", "-c", script]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}
