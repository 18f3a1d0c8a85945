import { CustomResourceDefinition } from "@setpoint/api";
import type { KubeObject, Transport, UserInfo } from "@setpoint/apimachinery";
import { createClient, type Client } from "@setpoint/client";
import {
  claimProtection,
  deployments,
  endpoints,
  GarbageCollector,
  namespaces,
  replicaSets,
  scheduler,
  serviceAccounts,
} from "@setpoint/controllers";
import type { Host } from "@setpoint/host";
import { simulatedHost, type SimulatedHost } from "@setpoint/host/simulated";
import { startManager } from "@setpoint/runtime";
import { installManifests, type Operator } from "setpoint";
import { NodeModel } from "./node-model.ts";
import { Participant } from "./participant.ts";
import type { ProgramModel } from "./program-model.ts";
import { SimulatedOperator, type OperatorSource } from "./simulated-operator.ts";
import { RunningWorld } from "./running-world.ts";
import { startSimulatedApiServer, type SimulatedApiServer } from "./simulated-api-server.ts";
import { Trace } from "./trace.ts";
import type { World } from "./world.ts";

export interface SimulateOptions {
  /** Everything about the run follows from it. */
  readonly seed: number;
  readonly operators?: readonly OperatorSource[];
  /** Models of the programs in the pods; what no model runs does nothing and is ready. */
  readonly models?: readonly ProgramModel[];
  /** Number of nodes; default 3. */
  readonly nodes?: number;
  /** Whether operators elect a leader by a lease, as with several replicas; default false. */
  readonly leaderElection?: boolean;
  /** How late the operators' watches may tell what has changed, in milliseconds; default 0. */
  readonly watchLagMsMax?: number;
}

const nodesDefault = 3;
const startMsMax = 60_000;
const operatorNamespace = "operators";

const admin: UserInfo = { username: "admin", groups: ["system:masters", "system:authenticated"] };

/** The parts that every world has. */
interface Ground {
  readonly host: SimulatedHost;
  readonly trace: Trace;
  readonly server: SimulatedApiServer;
}

/** Builds a world; it resolves when everything runs and is in sync. */
export async function simulate(options: SimulateOptions): Promise<World> {
  const host = simulatedHost(options.seed);
  const trace = new Trace();
  const server = await startSimulatedApiServer(host);
  const ground = { host, trace, server };
  const client = clientOf(ground, "user");
  const nodes = new NodeModel({
    client: clientOf(ground, "nodes"),
    host,
    names: Array.from({ length: options.nodes ?? nodesDefault }, (_, index) => `node-${index}`),
    models: options.models ?? [],
  });
  for (const model of options.models ?? []) model.attach?.(host);
  const operators = (options.operators ?? []).map((source) => describeOperator(ground, source, options));
  const kinds = operators.flatMap(({ operator }) => operator.controllers.map(({ kind }) => kind));
  const world = new RunningWorld({
    ...ground,
    client,
    nodes,
    operators: operators.map(({ process }) => process),
    kinds,
    models: options.models ?? [],
  });
  await world.wait(startEverything(ground, client, nodes, operators), { within: startMsMax });
  return world;
}

function clientOf(ground: Ground, name: string): Client {
  return createClient(transportOf(ground, participant(ground, name), admin), ground.host);
}

function participant({ host, trace }: Ground, name: string, watchLagMsMax = 0): Participant {
  return new Participant({ name, clock: host.clock, random: host.random, trace, watchLagMsMax });
}

function transportOf({ server }: Ground, who: Participant, user: UserInfo): Transport {
  return who.process().transport(server.transportAs(user));
}

interface DescribedOperator {
  readonly operator: Operator;
  readonly process: SimulatedOperator;
}

/** It runs with the rights of its own role, which follow from its controllers, and no others. */
function describeOperator(
  ground: Ground,
  source: OperatorSource,
  { leaderElection = false, watchLagMsMax = 0 }: SimulateOptions,
): DescribedOperator {
  const described = typeof source === "function" ? source({ call: (_what, _kind, send) => send() }) : source;
  const user = {
    username: `system:serviceaccount:${operatorNamespace}:${described.name}-operator`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${operatorNamespace}`, "system:authenticated"],
  };
  const process = new SimulatedOperator({
    source,
    host: ground.host,
    participant: participant(ground, described.name, watchLagMsMax),
    transport: ground.server.transportAs(user),
    ...(leaderElection ? { leaseNamespace: operatorNamespace } : {}),
  });
  return { operator: described, process };
}

async function startEverything(
  ground: Ground,
  client: Client,
  nodes: NodeModel,
  operators: readonly DescribedOperator[],
): Promise<void> {
  const { host } = ground;
  const transport = transportOf(ground, participant(ground, "controllers"), admin);
  await Promise.all([startControllers(transport, host), nodes.start()]);
  for (const { operator } of operators) await install(client, operator, host);
  for (const { process } of operators) process.start();
  await Promise.all(operators.map(({ process }) => process.ready));
}

async function startControllers(transport: Transport, host: Host): Promise<void> {
  const controllers = [
    deployments,
    replicaSets,
    scheduler,
    endpoints,
    namespaces,
    claimProtection,
    serviceAccounts({ caPem: "simulated" }),
  ];
  const manager = startManager({ transport, host, controllers, name: "kube-controller-manager" });
  const collector = new GarbageCollector(createClient(transport, host), host);
  await Promise.all([manager.ready, collector.start()]);
}

/** As `kubectl apply` of the operator's manifests, but for its Deployment: the world runs its process itself. */
async function install(client: Client, operator: Operator, host: Host): Promise<void> {
  const manifests = installManifests(operator, { image: "operator", namespace: operatorNamespace });
  const mapper = await client.discover();
  for (const manifest of manifests.filter(({ kind }) => kind !== "Deployment")) {
    await client.apply<KubeObject>(mapper.ofObject(manifest), manifest, { fieldManager: "simulate" });
  }
  for (const crd of operator.crds()) await established(client, crd, host);
}

const establishedLookMs = 20;

async function established(client: Client, crd: KubeObject, host: Host): Promise<void> {
  for (;;) {
    const present = await client.get(CustomResourceDefinition, { name: crd.metadata.name ?? "" });
    if (present.status?.conditions?.some(({ type, status }) => type === "Established" && status === "True") === true)
      return;
    await new Promise<void>((resolve) => void host.clock.setTimer(resolve, establishedLookMs));
  }
}
