import type { Transport, UserInfo } from "@setpoint/apimachinery";
import type { WebhookCaller } from "@setpoint/apiserver";
import { createClient, type Client } from "@setpoint/client";
import { simulatedHost, type SimulatedHost } from "@setpoint/host/simulated";
import type { ControllerDefinition } from "@setpoint/runtime";
import type { Operator } from "setpoint";
import { type BuiltInControllers, startBuiltInControllers, startCollector } from "./built-in-controllers.ts";
import type { Fault } from "./faults/fault.ts";
import { FaultBoard } from "./faults/fault-board.ts";
import { WorldFaultInjector } from "./faults/world-fault-injector.ts";
import { NodeModel } from "./node-model.ts";
import type { Onlooker } from "./onlooker.ts";
import { Participant } from "./participant.ts";
import type { ClockSkew } from "./process-clock.ts";
import { isProgramModel, type OutsideModel, type ProgramModel, type WorldModel } from "./program-model.ts";
import { ReconcileFailures } from "./reconcile-failures.ts";
import { SimulatedOperator, type OperatorSource } from "./simulated-operator.ts";
import { RunningWorld } from "./running-world.ts";
import { startSimulatedApiServer, type SimulatedApiServer } from "./simulated-api-server.ts";
import { startState } from "./start-state.ts";
import { Trace } from "./trace.ts";
import { clusterAdmin, operatorNamespace, operatorUser } from "./users.ts";
import type { World } from "./world.ts";

/** Which operators, programs, nodes and faults a simulated world has, and its seed. */
export interface SimulateOptions {
  /** Everything about the run follows from it. */
  readonly seed: number;
  readonly operators?: readonly OperatorSource[];
  /**
   * Models of the programs in the pods, and of systems outside of the cluster. A container without a model
   * does nothing and is ready.
   */
  readonly models?: readonly (ProgramModel | OutsideModel)[];
  /** Number of nodes; default 3. */
  readonly nodes?: number;
  /**
   * Whether nodes renew their Leases every ten seconds, as kubelets do. Then nobody but the operators notices
   * the outage of a node: they are the controllers of nodes themselves. Default false.
   */
  readonly heartbeats?: boolean;
  /** Whether operators elect a leader by a lease; by default only with several replicas. */
  readonly leaderElection?: boolean;
  /**
   * Which built-in controllers run. `all` is the default. `observed` runs those whose work the operators may
   * see or cause by their rights; the scheduler writes Events only if one of them may read Events. It suits
   * many runs that check nothing else. `collector` runs only the garbage collector, for operators that are
   * those controllers themselves.
   */
  readonly controllers?: "all" | "observed" | "collector";
  /**
   * Errors with which a reconcile may still fail when the world is at rest: parts of messages, or patterns.
   * Default: none.
   */
  readonly mayFail?: readonly (string | RegExp)[];
  /**
   * How long one step of the world may take, in milliseconds of real time. A longer one counts as an endless
   * loop. Default 10,000.
   */
  readonly stallMsMax?: number;
  /** How late the operators' watches may deliver events, in milliseconds; default 0. */
  readonly watchLagMsMax?: number;
  /**
   * Processes of each operator; default 1. Several of them elect a leader, unless `leaderElection` is false.
   */
  readonly replicas?: number;
  /**
   * How the clocks of the operators' machines differ from the world's: of the first replica, the second and
   * so on.
   */
  readonly clocks?: readonly ClockSkew[];
  /**
   * Answers for the webhooks of the story's configurations; without it no webhook is called. When it throws,
   * the webhook counts as unreachable.
   */
  readonly webhooks?: WebhookCaller;
  /** The faults of this run, counted from the moment at which the world is ready; see docs/exploring.md. */
  readonly faults?: readonly Fault[];
}

/** An observer of a world from the outside. */
export interface Watching {
  readonly board: FaultBoard;
  readonly onlooker?: Onlooker;
}

const nodesDefault = 3;
const startMsMax = 60_000;
const stallMsMaxDefault = 10_000;

/** The parts that every world has. */
interface Ground {
  readonly host: SimulatedHost;
  readonly trace: Trace;
  readonly server: SimulatedApiServer;
  readonly watching: Watching;
}

/** Builds a world; it resolves when everything runs and is in sync. */
export function simulate(options: SimulateOptions): Promise<World> {
  const board = new FaultBoard(options.faults, { isRead: false });
  return simulateWatched(options, { board }).then(({ world }) => world);
}

/** A world, with what only an outside observer sees. */
export interface WatchedWorld {
  readonly world: RunningWorld;
  readonly board: FaultBoard;
  readonly injector: WorldFaultInjector;
  readonly storage: SimulatedApiServer["storage"];
  readonly contents: SimulatedApiServer["contents"];
  readonly models: readonly WorldModel[];
  readonly controllers: readonly ControllerDefinition[];
  /** The names of the operators' processes, as in the trace. */
  readonly operators: readonly string[];
}

/** As `simulate`, and the caller sees every request and every watch event. */
export async function simulateWatched(options: SimulateOptions, watching: Watching): Promise<WatchedWorld> {
  const { models = [], seed } = options;
  if (!Number.isSafeInteger(seed))
    throw new Error(
      `Cannot simulate without a seed: "seed" is ${String(seed)}, and everything follows from a whole number`,
    );
  const nodeNames = Array.from({ length: options.nodes ?? nodesDefault }, (_, index) => `node-${index}`);
  const described = (options.operators ?? []).map((source) => ({ source, operator: describeOperator(source) }));
  const { contents, startMs } = await startState({
    operators: described.map(({ operator }) => operator),
    nodeNames,
  });
  const host = simulatedHost(seed, startMs);
  const ground = {
    host,
    trace: new Trace(),
    server: await startSimulatedApiServer(host, contents, options.webhooks),
    watching,
  };
  const programs = models.filter(isProgramModel);
  const nodes = new NodeModel({
    client: clientOf(ground, "nodes"),
    host,
    names: nodeNames,
    models: programs,
    heartbeats: options.heartbeats ?? false,
  });
  for (const model of models) model.attach?.(host);
  const { replicas = 1 } = options;
  const operators = described.flatMap((each) => {
    const failures = new ReconcileFailures(host.clock);
    return Array.from({ length: replicas }, (_, replica) => createProcess(ground, each, options, replica, failures));
  });
  const world = new RunningWorld({
    ...ground,
    client: clientOf(ground, "user"),
    nodes,
    operators,
    kinds: described.flatMap(({ operator }) => operator.controllers.map(({ kind }) => kind)),
    models,
    storage: ground.server.storage,
    mayFail: options.mayFail ?? [],
    stallMsMax: options.stallMsMax ?? stallMsMaxDefault,
  });
  const observers = options.controllers === "observed" ? described.map(({ operator }) => operator) : undefined;
  await world.wait(
    world.enter(() => {
      const transport = transportOf(ground, participant(ground, "controllers"), clusterAdmin);
      const builtIn =
        options.controllers === "collector"
          ? startCollector(transport, host)
          : startBuiltInControllers(transport, host, observers);
      return startEverything(builtIn, nodes, operators);
    }),
    { within: startMsMax },
  );
  const { board } = watching;
  const controllers = described.flatMap(({ operator }) => operator.controllers);
  const injector = new WorldFaultInjector({
    client: clientOf(ground, "somebody"),
    storage: ground.server.storage,
    host,
    nodes,
    nodeNames,
    models,
    operators,
    controllers,
  });
  board.arm(host.clock, injector);
  const names = operators.map(({ name }) => name);
  const { server } = ground;
  const stored = (): ReturnType<SimulatedApiServer["contents"]> => server.contents();
  const { storage } = server;
  return { world, board, injector, storage, contents: stored, models, controllers, operators: names };
}

function clientOf(ground: Ground, name: string): Client {
  return createClient(transportOf(ground, participant(ground, name), clusterAdmin), ground.host);
}

function participant({ host, trace, watching: { onlooker } }: Ground, name: string): Participant {
  return new Participant({
    name,
    clock: host.clock,
    random: host.random,
    trace,
    ...(onlooker === undefined ? {} : { onlooker }),
  });
}

function transportOf({ server }: Ground, who: Participant, user: UserInfo): Transport {
  return who.process().transport(server.transportAs(user));
}

interface DescribedOperator {
  readonly source: OperatorSource;
  readonly operator: Operator;
}

/** The description of an operator, as its manifests need it; no process of it runs. */
export function describeOperator(source: OperatorSource): Operator {
  return typeof source === "function" ? source({ call: (_what, _kind, send) => send() }) : source;
}

/** The process runs with the rights of its own role, which follow from its controllers, and no others. */
function createProcess(
  ground: Ground,
  { source, operator }: DescribedOperator,
  options: SimulateOptions,
  replica: number,
  failures: ReconcileFailures,
): SimulatedOperator {
  const { replicas = 1, leaderElection = replicas > 1, watchLagMsMax = 0, clocks = [] } = options;
  const skew = clocks[replica];
  const name = replica === 0 ? operator.name : `${operator.name}/${replica}`;
  return new SimulatedOperator({
    source,
    host: ground.host,
    group: operator.name,
    replica,
    failures,
    participant: new Participant({
      name,
      clock: ground.host.clock,
      random: ground.host.random,
      trace: ground.trace,
      watchLagMsMax,
      ...ground.watching,
    }),
    ...(skew === undefined ? {} : { skew }),
    transport: ground.server.transportAs(operatorUser(operator.name)),
    ...(leaderElection ? { leaseNamespace: operatorNamespace } : {}),
  });
}

async function startEverything(
  builtIn: BuiltInControllers,
  nodes: NodeModel,
  operators: readonly SimulatedOperator[],
): Promise<void> {
  await Promise.all([builtIn.ready, nodes.start(builtIn.informers)]);
  for (const operator of operators) operator.start();
  await Promise.all(operators.map(({ ready }) => ready));
}
