/** What the tour sees of a PostgresCluster: status by the Kubernetes API, data by psql in its pods. */
import { isNotFound } from "@setpoint/apimachinery";
import type { Client, KindRef } from "@setpoint/client";
import { type HttpConnection, resolveConnection } from "@setpoint/client/node";
import { Backup, Restore } from "@setpoint/data-service";
import { systemClock } from "@setpoint/host/system";
import { PostgresCluster } from "@setpoint/postgres-operator";
import type { Print } from "../../tours/example.ts";
import { runInPod } from "../../tours/run-in-pod.ts";
import { untilFound } from "../../tours/until-found.ts";

export type ClusterStatus = NonNullable<PostgresCluster["status"]>;

export interface PostgresTourOptions {
  readonly client: Client;
  /** The path of the kubeconfig. */
  readonly kubeconfig: string;
  readonly name: string;
  readonly namespace: string;
  /** Gets what the cluster waits for, whenever it changes. */
  readonly print: Print;
}

export class PostgresUnderTour {
  readonly client: Client;
  readonly name: string;
  readonly namespace: string;
  readonly #options: PostgresTourOptions;
  readonly #connection: HttpConnection;

  constructor(options: PostgresTourOptions) {
    this.client = options.client;
    this.name = options.name;
    this.namespace = options.namespace;
    this.#options = options;
    this.#connection = resolveConnection({ clock: systemClock, kubeconfig: options.kubeconfig }).connection;
  }

  /** Another PostgresCluster beside this one. */
  beside(name: string): PostgresUnderTour {
    return new PostgresUnderTour({ ...this.#options, name });
  }

  get(): Promise<PostgresCluster> {
    return this.client.get(PostgresCluster, this);
  }

  async primary(): Promise<string> {
    const { status } = await this.get();
    return status?.primary ?? "";
  }

  async patchSpec(spec: object): Promise<void> {
    await this.client.patch(PostgresCluster, this, { spec });
  }

  /** All instances are ready in the latest spec; under another primary when `former` is given. */
  async settled(former?: string): Promise<ClusterStatus> {
    let said = "";
    return untilFound(`${this.name} to be running`, async () => {
      const { spec, status, metadata } = await this.get();
      const line = describeStatus(spec.instances, status);
      if (line !== said) this.#options.print(line);
      said = line;
      if (status?.phase !== "Running" || status.readyInstances !== spec.instances) return undefined;
      const isCurrent = status.observedGeneration === metadata.generation;
      return isCurrent && status.primary !== undefined && status.primary !== former ? status : undefined;
    });
  }

  until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
    return untilFound(what, look);
  }

  async isGone(kind: KindRef, name: string): Promise<true | undefined> {
    return this.client.get(kind, { name, namespace: this.namespace }).then(
      () => undefined,
      (error: unknown) => (isNotFound(error) ? true : undefined),
    );
  }

  /** Resolves when the Backup or the Restore has succeeded; rejects with its message when it has failed. */
  async succeeded<T extends Backup | Restore>(kind: KindRef<T>, name: string): Promise<T> {
    const ended = await untilFound(`${kind.kind} "${name}" to end`, async () => {
      const object = await this.client.get(kind, { name, namespace: this.namespace });
      return ["Succeeded", "Failed"].includes(object.status?.phase ?? "") ? object : undefined;
    });
    if (ended.status?.phase === "Failed") throw new Error(`${kind.kind} "${name}" failed: ${ended.status.message}`);
    return ended;
  }

  /** As the superuser on the primary. Rejects with what psql says. */
  async sql(statement: string): Promise<string> {
    const psql = ["psql", "-h", "/run/setpoint/socket", "-U", "postgres", "-d", "app"];
    return this.inPod(await this.primary(), [...psql, "-v", "ON_ERROR_STOP=1", "-Atqc", statement], "postgres");
  }

  /** What the command printed; rejects when it ends with another code than 0. */
  inPod(pod: string, command: readonly string[], container?: string): Promise<string> {
    const { namespace } = this;
    return runInPod({ connection: this.#connection, namespace, pod, container }, command);
  }
}

function describeStatus(instances: number, status: ClusterStatus | undefined): string {
  if (status === undefined) return "waiting for the operator";
  const said = `${status.phase}: ${status.readyInstances} of ${instances} instances ready`;
  return status.waitingFor === undefined ? said : `${said}; ${status.waitingFor.what}`;
}
