/** The operator on stage in the simulated world, for the scenarios. Only tests import this. */
import { simulatedIssuer } from "@setpoint/data-service";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import {
  conditionOf,
  EtcdModel,
  EtcdWriter,
  simulate,
  simulatedOperatorImage,
  TransferModel,
  type World,
} from "setpoint/testing";
import { expect } from "vitest";
import { EtcdCluster } from "../kind/etcd-cluster.ts";
import { etcdOperator } from "../etcd-operator.ts";
import { simulatedGateway } from "./simulated-gateway.ts";

export interface Stage {
  readonly world: World;
  readonly etcd: EtcdModel;
  /** Runs what the operator's own image does in pods. */
  readonly transfers: TransferModel;
}

export async function setUp(seed: number): Promise<Stage> {
  const etcd = new EtcdModel();
  const transfers = new TransferModel({});
  const world = await simulate({
    seed,
    models: [etcd, transfers],
    operators: [
      (process) => etcdOperator(simulatedGateway(etcd, process), {}, simulatedOperatorImage, simulatedIssuer),
    ],
  });
  return { world, etcd, transfers };
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

type Spec = Partial<EtcdCluster["spec"]>;

export function cluster(name: string, spec: Spec = {}): EtcdCluster {
  return EtcdCluster({ name, spec: { size: 3, version: "3.4.23", tls: { mode: "Disabled" }, ...spec } });
}

export const claims = {
  volumeClaimTemplate: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
} satisfies Spec;

/** The status of the one cluster of a story, which must be as its spec says and healthy. */
export async function expectHealthy({ world, etcd }: Stage): Promise<void> {
  const present = await world.get(EtcdCluster, "orders");
  const { size, version } = present.spec;
  expect(present.status).toMatchObject({
    phase: "Running",
    size,
    readyMembers: size,
    currentVersion: version,
    targetVersion: version,
  });
  expect(present.status?.members.every(({ healthy }) => healthy)).toBe(true);
  expect(conditionOf(present, "Available")?.status).toBe("True");
  expect(conditionOf(present, "Degraded")?.status).toBe("False");
  expect(present.status?.leader).toBe(etcd.leader("orders"));
  expect((await world.list(Pod)).map(({ metadata }) => metadata.name).sort()).toEqual(
    present.status?.members.map((each) => each.name),
  );
  if (present.spec.volumeClaimTemplate !== undefined)
    expect((await world.list(PersistentVolumeClaim)).length).toBe(size);
}

export function startWriter({ world, etcd }: Stage): EtcdWriter {
  return new EtcdWriter({ model: etcd, host: world.host, cluster: "orders" });
}

/** Nothing that was acknowledged may be missing. */
export async function expectNothingLost(world: World, writer: EtcdWriter): Promise<void> {
  const report = await world.wait(writer.check());
  expect(report.lost).toEqual([]);
  expect(report.acknowledged).toBeGreaterThan(20);
}

/**
 * What happens to a cluster that is in use: afterwards it is healthy and at rest, and nothing that was
 * acknowledged is missing.
 */
export async function whileSomebodyWrites<T>(stage: Stage, happen: () => Promise<T>): Promise<T> {
  const { world } = stage;
  const writer = startWriter(stage);
  const result = await happen();
  await world.settled();
  await expectHealthy(stage);
  await expectNothingLost(world, writer);
  writer.stop();
  await world.expectQuiet();
  return result;
}

export async function bootstrap(stage: Pick<Stage, "world">, spec: Spec = {}): Promise<void> {
  await stage.world.apply(cluster("orders", spec));
  await stage.world.settled();
}

export function memberNames({ etcd }: Stage): readonly string[] {
  return etcd
    .members("orders")
    .map(({ name }) => name)
    .sort();
}

/** Of all pods, sorted: the same UIDs mean that none was replaced. */
export async function podUids({ world }: Pick<Stage, "world">): Promise<readonly string[]> {
  return (await world.list(Pod)).map(({ metadata }) => metadata.uid).sort();
}
