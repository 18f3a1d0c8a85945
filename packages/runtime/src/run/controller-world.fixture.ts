/**
 * An API server in this process with one kind of objects and one of children, and controllers under a virtual
 * clock.
 */
import { createKind, type ApiRequest, type KubeObject, type Status, type Transport } from "@setpoint/apimachinery";
import { createApiServer, createMemoryStorage } from "@setpoint/apiserver";
import { createClient, type Client, type KindRef } from "@setpoint/client";
import { FaultyTransport } from "@setpoint/client/simulated";
import { simulatedHost, type SimulatedHost } from "@setpoint/host/simulated";
import {
  controller,
  startManager,
  type ControllerDefinition,
  type Manager,
  type ManagerOptions,
  type ReconcileOptions,
} from "@setpoint/runtime";
import { anything, Event, Lease, served } from "./served-kinds.fixture.ts";

export interface Candy extends KubeObject {
  readonly spec: { readonly flavors: readonly string[] };
  readonly status?: {
    readonly wrappers?: number;
    readonly observedGeneration?: number;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
      readonly observedGeneration?: number;
      readonly lastTransitionTime: string;
    }[];
  };
}

export interface Wrapper extends KubeObject {
  readonly data: Readonly<Record<string, string>>;
}

const conditions = {
  type: "array",
  items: anything,
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["type"],
} as const;
const status = { ...anything, properties: { conditions, observedGeneration: { type: "integer" } } } as const;

/** As `defineKind` makes one: its schema says that it has conditions. */
export const Candy: KindRef<Candy> & { (init: Parameters<typeof plainCandy>[0]): Candy } = Object.assign(
  (init: Parameters<typeof plainCandy>[0]): Candy => plainCandy(init),
  {
    ...{ group: "example.com", version: "v1", kind: "Candy", plural: "candies", namespaced: true },
    schema: { properties: { status } },
  },
);
const plainCandy = createKind<Candy>({
  group: "example.com",
  version: "v1",
  kind: "Candy",
  plural: "candies",
  namespaced: true,
});
export const Wrapper = createKind<Wrapper>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
});
/** What a server says instead of doing what it is asked; undefined lets the request pass. */
export type Refuse = (request: ApiRequest) => Status | undefined;

export interface ControllerWorld extends AsyncDisposable {
  readonly host: SimulatedHost;
  readonly client: Client;
  /** What controllers use, unless they are given another one. */
  readonly faults: FaultyTransport;
  /** Past all faults. */
  readonly transport: Transport;
  /** May be replaced at any time. */
  refuse: Refuse;
  start(controllers: readonly ControllerDefinition[], options?: Partial<ManagerOptions>): Manager;
  settle(manager: Manager): Promise<void>;
  run(milliseconds: number): Promise<void>;
  /** Runs something that needs time to pass. */
  wait<T>(promise: Promise<T>): Promise<T>;
  candy(name?: string): Promise<Candy>;
  /** Writes of objects of a plural, as `PATCH candies/status`. */
  writes(): readonly string[];
}

const limitMs = 600_000;

export function createControllerWorld(seed = 1): ControllerWorld {
  const host = simulatedHost(seed);
  const storage = createMemoryStorage(host);
  const server = createApiServer({
    host,
    storage,
    builtin: [served(Candy, status), served(Wrapper), served(Lease), served(Event)],
  });
  const transport = server.transport({ username: "operator", groups: ["system:masters"] });
  const client = createClient(transport, host);
  const refusing: Transport = {
    async send(request, signal) {
      const object = world.refuse(request);
      if (object === undefined) return transport.send(request, signal);
      return { kind: "object", status: object.code ?? 500, headers: {}, object };
    },
  };
  const faults = new FaultyTransport(refusing);
  const managers: Manager[] = [];
  const world: ControllerWorld = {
    host,
    client,
    faults,
    transport,
    refuse: () => undefined,
    start(controllers, options = {}) {
      const manager = startManager({ transport: faults, host, controllers, ...options });
      managers.push(manager);
      return manager;
    },
    async settle(manager) {
      if (!(await host.clock.run(limitMs, () => manager.isQuiet()))) throw new Error("not quiet in time");
    },
    run: async (milliseconds) => void (await host.clock.run(milliseconds)),
    wait: (promise) => host.clock.wait(promise),
    candy: (name = "lolly") => client.get(Candy, { name, namespace: "default" }),
    writes: () =>
      faults.writes
        .filter(({ request }) => !request.path.includes("/events"))
        .map(({ request }) => `${request.method} ${request.path.replace(/^.*\/namespaces\/[^/]+\//, "")}`),
    async [Symbol.asyncDispose]() {
      for (const manager of managers) await world.wait(manager.stop());
      await server[Symbol.asyncDispose]();
    },
  };
  return world;
}

export function candy(...flavors: string[]): Candy {
  return Candy({ name: "lolly", namespace: "default", spec: { flavors } });
}

export function wrapper(flavor: string, data: Wrapper["data"] = { flavor }): Wrapper {
  return Wrapper({ name: `lolly-${flavor}`, namespace: "default", data });
}

/** One wrapper a flavor, and none besides. */
export const wrapping: ControllerDefinition = controller(Candy, {
  owns: [Wrapper],
  async reconcile({ spec }, { children, status }) {
    await children.apply(spec.flavors.map((flavor) => wrapper(flavor)));
    await status({ wrappers: spec.flavors.length });
  },
});

/** A controller that notes when it runs, whatever its reconcile does; by default nothing. */
export function noting(world: ControllerWorld, options: Partial<ReconcileOptions<Candy>> = {}) {
  const runsMs: number[] = [];
  const { reconcile = async () => {} } = options;
  const definition = controller(Candy, {
    ...options,
    reconcile: (object, context) => {
      runsMs.push(world.host.clock.monotonic());
      return reconcile(object, context);
    },
  });
  return { runsMs, definition };
}

/** One condition of a candy, as `True Reason: message`. */
export function said({ status }: Candy, type: string): string | undefined {
  const found = status?.conditions?.find((each) => each.type === type);
  return found === undefined ? undefined : `${found.status} ${found.reason}: ${found.message}`;
}

/** What the events with this reason say. */
export async function notesOf({ client }: ControllerWorld, reason: string): Promise<readonly string[]> {
  const { items } = await client.listAll(Event);
  return items
    .filter((each) => Reflect.get(each, "reason") === reason)
    .map((each) => String(Reflect.get(each, "note")));
}

/** An answer of the server that is no success. */
export function refusal(code: number, reason: string, message: string, cause?: string): Status {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason,
    code,
    ...(cause === undefined ? {} : { details: { causes: [{ reason: cause, message, field: "" }] } }),
  } as Status;
}
