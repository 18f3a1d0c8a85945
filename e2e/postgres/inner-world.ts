/** A PostgresCluster with objects inside of it, as the tests of its roles and databases use it. */
import { eventually } from "./eventually.ts";
import type { PostgresPlayground } from "./playground.ts";

export const limitMs = 90_000;

export interface InnerState {
  readonly metadata: { readonly generation: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[];
    readonly [field: string]: unknown;
  };
}

export class InnerWorld {
  readonly playground: PostgresPlayground;
  readonly cluster: string;

  constructor(playground: PostgresPlayground, cluster: string) {
    this.playground = playground;
    this.cluster = cluster;
  }

  async apply(kind: string, name: string, spec: object): Promise<void> {
    const whole = { cluster: this.cluster, ...spec };
    await this.playground.apply({ apiVersion: "postgres.setpoint.dev/v1", kind, metadata: { name }, spec: whole });
  }

  async get(kind: string, name: string): Promise<InnerState> {
    return JSON.parse(await this.playground.kubectl.ok(`get ${kind} ${name} -o json`)) as InnerState;
  }

  /** A condition of the present generation has this status, and its message matches. */
  condition(kind: string, name: string, type: string, status: string, message = /./): Promise<InnerState> {
    return eventually(async () => {
      const state = await this.get(kind, name);
      const found = state.status?.conditions?.find((each) => each.type === type);
      const isCurrent = state.status?.observedGeneration === state.metadata.generation;
      if (!isCurrent || found?.status !== status || !message.test(found.message))
        throw new Error(`${kind} ${name} has no ${type}=${status} like ${message}: ${JSON.stringify(state.status)}`);
      return state;
    }, limitMs);
  }

  /** Waits while there is none, between two primaries. */
  primary(): Promise<string> {
    return eventually(async () => {
      const { primary } = (await this.playground.get(this.cluster)).status ?? {};
      if (primary === undefined) throw new Error(`${this.cluster} has no primary`);
      return primary;
    }, limitMs);
  }

  /** Without grace: it is not asked to end, it ends. */
  async killOperator(): Promise<void> {
    const pods = await this.playground.kubectl.ok("get pods -n setpoint-system -o name");
    const [operator] = pods.split("\n").filter((name) => name.includes("postgres-operator"));
    await this.playground.kubectl.ok(`delete ${operator} -n setpoint-system --force --grace-period=0`);
  }

  /** The pod of the primary is gone; another instance takes its place, or the same one comes back first. */
  async crash(): Promise<void> {
    const { status } = await this.playground.get(this.cluster);
    await this.playground.kubectl.ok(`delete pod ${status?.primary} --force --grace-period=0`);
    await eventually(async () => {
      const { term = 0 } = (await this.playground.get(this.cluster)).status ?? {};
      if (term <= (status?.term ?? 0)) throw new Error(`${this.cluster} is in term ${term} still`);
    }, limitMs);
    await this.playground.settled(this.cluster, 3 * limitMs);
  }

  /** As the superuser in the primary. */
  async sql(statement: string, database = "postgres"): Promise<string> {
    return (await this.playground.sqlIn(await this.primary(), database, statement)).trim();
  }

  async secret(name: string): Promise<Readonly<Record<string, string>>> {
    const { data = {} } = JSON.parse(await this.playground.kubectl.ok(`get secret ${name} -o json`)) as {
      readonly data?: Readonly<Record<string, string>>;
    };
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]),
    );
  }

  /** As a client with this address; what psql says when it is refused. */
  async as(uri: string, statement: string): Promise<string> {
    const command = ["psql", `${uri}&connect_timeout=5`, "-Atqc", statement];
    const { code, stdout, stderr } = await this.playground.kubectl.run(
      `exec ${await this.primary()} -c postgres --`,
      command,
    );
    return code === 0 ? stdout.trim() : stderr.trim();
  }
}
