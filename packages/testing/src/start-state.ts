/**
 * The cluster from which worlds start: bootstrapped, with nodes and with the operators' manifests installed,
 * at rest. It follows only from the kinds and rights of the operators and the number of nodes. So it is built
 * once, and every world with the same ones starts from a copy: a world costs only its own requests.
 */
import { CustomResourceDefinition } from "@setpoint/api";
import type { KubeObject } from "@setpoint/apimachinery";
import type { StorageContents } from "@setpoint/apiserver";
import { createClient, type Client } from "@setpoint/client";
import { sleep, type Host } from "@setpoint/host";
import { simulatedHost } from "@setpoint/host/simulated";
import type { Operator } from "setpoint";
import { installManifests } from "setpoint/install";
import { startBuiltInControllers } from "./built-in-controllers.ts";
import { registerNode } from "./register-node.ts";
import { startSimulatedApiServer } from "./simulated-api-server.ts";
import { clusterAdmin, operatorNamespace } from "./users.ts";

export interface StartState {
  readonly contents: StorageContents;
  /** The virtual time of the world's first moment. */
  readonly startMs: number;
}

export interface StartStateOptions {
  readonly operators: readonly Operator[];
  readonly nodeNames: readonly string[];
}

/** By then the controllers have set up a new cluster. */
const startMs = 10_000;
const establishedLookMs = 20;
/** A test run has few sets of operators. The limit is for a caller that creates a kind for every world. */
const cachedMax = 16;

const cached = new Map<string, Promise<StartState>>();
const kindIds = new WeakMap<object, number>();
let kindCount = 0;

/** The state for these operators, built at the first call. */
export function startState(options: StartStateOptions): Promise<StartState> {
  const key = keyOf(options);
  let state = cached.get(key);
  // The cache evicts the least recently used state.
  cached.delete(key);
  state ??= buildStartState(options);
  cached.set(key, state);
  const [oldest] = cached.keys();
  if (cached.size > cachedMax && oldest !== undefined) cached.delete(oldest);
  return state;
}

function keyOf({ operators, nodeNames }: StartStateOptions): string {
  const parts = operators.map(({ name, kinds, rules, ownRules }) => [name, kinds.map(kindId), rules, ownRules]);
  return JSON.stringify([nodeNames, parts]);
}

/** A kind never changes after its definition, so its identity stands for its schema. */
function kindId(kind: object): number {
  let id = kindIds.get(kind);
  if (id === undefined) {
    id = ++kindCount;
    kindIds.set(kind, id);
  }
  return id;
}

/** Builds it without the cache; equal options give equal states. */
export async function buildStartState({ operators, nodeNames }: StartStateOptions): Promise<StartState> {
  const host = simulatedHost(0);
  const server = await startSimulatedApiServer(host);
  const transport = server.transportAs(clusterAdmin);
  const client = createClient(transport, host);
  const build = async (): Promise<void> => {
    await startBuiltInControllers(transport, host).ready;
    for (const name of nodeNames) await registerNode(client, name);
    for (const operator of operators) await install(client, operator, host);
  };
  let isDone = false;
  const building = build().finally(() => (isDone = true));
  building.catch(() => {});
  if (!(await host.clock.run(startMs, () => isDone)))
    throw new Error(`Cannot start a world: its operators are not installed after ${startMs / 1_000} s of virtual time`);
  await building;
  await host.clock.run(startMs - host.clock.monotonic());
  const contents = server.contents();
  await server[Symbol.asyncDispose]();
  return { contents, startMs };
}

/**
 * As `kubectl apply` of the operator's manifests, but for its Deployment: the world runs its process itself.
 */
async function install(client: Client, operator: Operator, host: Host): Promise<void> {
  const manifests = installManifests(operator, { image: "operator", namespace: operatorNamespace });
  const mapper = await client.discover();
  for (const manifest of manifests.filter(({ kind }) => kind !== "Deployment"))
    await client.apply<KubeObject>(mapper.ofObject(manifest), manifest, { fieldManager: "simulate" });
  for (const crd of operator.crds()) await established(client, crd, host);
}

async function established(client: Client, crd: KubeObject, host: Host): Promise<void> {
  for (;;) {
    const present = await client.get(CustomResourceDefinition, { name: crd.metadata.name ?? "" });
    if (present.status?.conditions?.some(({ type, status }) => type === "Established" && status === "True") === true)
      return;
    await sleep(host.clock, establishedLookMs);
  }
}
