/** An API server in this process on real time, as real sockets need it, with one kind of the author's. */
import { ConfigMap, CustomResourceDefinition, Secret } from "@setpoint/api";
import {
  bootstrap,
  builtinEndpoints,
  builtinResources,
  createApiServer,
  createDiscoveryEndpoints,
  createMemoryStorage,
  serveCustomResources,
  withCrdStrategy,
} from "@setpoint/apiserver";
import { createClient, type Client } from "@setpoint/client";
import { sleep, type Host } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { startManager } from "@setpoint/runtime";
import { conditions, defineKind, type controller } from "setpoint";
import { z } from "zod";

type ControllerDefinition = ReturnType<typeof controller>;

export const Candy = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "Candy",
  spec: z.object({ flavors: z.array(z.string()), secret: z.string().optional() }),
  status: z.object({
    wrappers: z.int().optional(),
    sweetness: z.string().optional(),
    conditions: conditions().optional(),
  }),
});
export type Candy = ReturnType<typeof Candy>;

export interface HookWorld extends AsyncDisposable {
  readonly host: Host;
  readonly client: Client;
  start(...controllers: readonly ControllerDefinition[]): Promise<void>;
  /** Looks again and again until it holds. */
  until(what: string, holds: () => Promise<boolean>): Promise<void>;
  /** The wrappers and the status of a candy. */
  seen(name: string): Promise<unknown>;
}

const untilMsMax = 5_000;

export async function createHookWorld(log: (line: string) => void = () => {}): Promise<HookWorld> {
  await using parts = new AsyncDisposableStack();
  const host = systemHost({ write: log });
  const storage = parts.use(createMemoryStorage(host));
  const server = createApiServer({ host, storage, builtin: withCrdStrategy(builtinResources()) });
  const customResources = serveCustomResources(server, { host, storage });
  parts.defer(() => customResources.stop());
  parts.use(server);
  server.addEndpoints(builtinEndpoints({ host, reader: server.reader, storage }));
  server.addEndpoints(createDiscoveryEndpoints({ registry: server.registry, clock: host.clock, healthChecks: [] }));
  await bootstrap({ storage, host });
  const transport = server.transport({ username: "admin", groups: ["system:masters"] });
  const client = createClient(transport, host);
  const until: HookWorld["until"] = async (what, holds) => {
    const deadlineMs = host.clock.monotonic() + untilMsMax;
    while (!(await holds())) {
      if (host.clock.monotonic() > deadlineMs) throw new Error(`Not in time: ${what}`);
      await sleep(host.clock, 5);
    }
  };
  const crd = Candy.crd();
  await client.create(CustomResourceDefinition, crd as CustomResourceDefinition);
  await until("the kind is served", async () => {
    const { status } = await client.get(CustomResourceDefinition, { name: crd.metadata.name });
    return status?.conditions?.some(({ type, status }) => type === "Established" && status === "True") ?? false;
  });
  const moved = parts.move();
  return {
    host,
    client,
    until,
    async start(...controllers) {
      const manager = startManager({ transport, host, controllers });
      moved.defer(() => manager.stop());
      await manager.ready;
    },
    async seen(name) {
      const wrappers = (await client.listAll(ConfigMap, { namespace: "default" })).items
        .filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.name === name))
        .map(({ metadata, data }) => [metadata.name, data]);
      const { status } = await client.get(Candy, { name, namespace: "default" });
      const said = status?.conditions?.map(({ type, status, reason, message }) => ({ type, status, reason, message }));
      return { wrappers, status: { ...status, conditions: said } };
    },
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}

export { ConfigMap, Secret };
