/** The operator on stage in the simulated world, for the scenarios. Only tests import this. */
import { simulatedIssuer } from "@setpoint/data-service";
import type { Stored } from "setpoint";
import { Pod } from "setpoint/kinds";
import { simulate, type SimulateOptions, type World } from "setpoint/testing";
import { expect } from "vitest";
import { PostgresCluster } from "../kind/postgres-cluster.ts";
import { postgresOperator } from "../postgres-operator.ts";
import { PostgresModel, simulatedImage } from "./postgres-model.ts";
import { PostgresWriter } from "./postgres-writer.ts";
import { simulatedGateway } from "./simulated-gateway.ts";

export interface Stage {
  readonly world: World;
  readonly postgres: PostgresModel;
}

export async function setUp(seed: number, options: Partial<SimulateOptions> = {}): Promise<Stage> {
  const postgres = new PostgresModel();
  const world = await simulate({
    ...options,
    seed,
    models: [postgres],
    operators: [(process) => postgresOperator(simulatedGateway(postgres, process), simulatedImage, simulatedIssuer)],
  });
  return { world, postgres };
}

/** Runs a story twice from one seed; a world has no other source of chance. */
export function scenario(seed: number, story: (stage: Stage) => Promise<void>): () => Promise<void> {
  const run = async (): Promise<string> => {
    const stage = await setUp(seed);
    await using world = stage.world;
    await story(stage);
    return world.traceHash();
  };
  return async () => expect(await run()).toBe(await run());
}

/** Nothing happens by the clock but leases, which last for seconds. */
const quietHours = 0.05;

type Spec = Partial<PostgresCluster["spec"]>;

export function cluster(spec: Spec = {}): PostgresCluster {
  return PostgresCluster({ name: "orders", spec: { storage: { size: "1Gi" }, ...spec } });
}

export const synchronous = { synchronous: { number: 1, durability: "required" } } satisfies Spec;

/** A cluster that runs, and a client that writes. */
export async function begin({ world, postgres }: Stage, spec: Spec = {}): Promise<PostgresWriter> {
  await world.apply(cluster(spec));
  await world.settled();
  return new PostgresWriter(postgres, world.host);
}

export async function orders({ world }: Stage): Promise<Stored<PostgresCluster>> {
  return world.get(PostgresCluster, "orders");
}

export async function primaryName(stage: Stage): Promise<string> {
  return (await orders(stage)).status?.primary ?? "";
}

/** The cluster is as its spec says, and the model has one primary that all others follow. */
export async function expectHealthy(stage: Stage): Promise<void> {
  const { spec, status } = await orders(stage);
  const { postgres } = stage;
  expect(status).toMatchObject({ phase: "Running", readyInstances: spec.instances });
  expect(postgres.violations).toEqual([]);
  const primary = postgres.server(status?.primary ?? "");
  expect(primary.acceptsCommits).toBe(true);
  for (const server of postgres.servers) if (server !== primary) expect(server.upstream?.name).toBe(primary.name);
}

/** The writer of a story goes on; the operator writes nothing. */
export async function quiet({ world }: Stage): Promise<void> {
  await world.expectQuiet({ hours: quietHours });
}

export async function nodeOf({ world }: Stage, pod: string): Promise<string> {
  return (await world.get(Pod, pod)).spec?.nodeName ?? "";
}
