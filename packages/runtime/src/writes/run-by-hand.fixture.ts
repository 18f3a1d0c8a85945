/**
 * Single runs whose cache shows what the test puts into it and nothing else, so that it may lag as far as it
 * likes.
 */
import type { KubeObject, Transport } from "@setpoint/apimachinery";
import { createClient, type KindRef, type Stored } from "@setpoint/client";
import type { ControllerDefinition } from "@setpoint/runtime";
import { InformerFactory } from "../cache/informer-factory.ts";
import { storeKey } from "../cache/store.ts";
import { EventRecorder } from "../events/event-recorder.ts";
import { ControllerCache } from "../controller/controller-cache.ts";
import { wrapping, type ControllerWorld } from "../run/controller-world.fixture.ts";
import { createRun, type Run } from "../run/create-run.ts";
import { KeyState } from "../run/key-state.ts";
import { OwnWrites } from "./own-writes.ts";
import type { WriteMemory } from "./write-memory.ts";
import type { PlannedWrite } from "./write-guard.ts";

export interface RunsByHand {
  readonly memory: WriteMemory;
  /** What the guard was asked about, as `apply lolly-mint new`. */
  readonly planned: readonly string[];
  /** The cache shows this object as it is here, without managed fields as all caches do. */
  show<T extends KubeObject>(object: Stored<T>): Stored<T>;
  hide(object: Stored<KubeObject>): void;
  /** A run over the object as it is here. */
  begin(object: Stored<KubeObject>): Run & { readonly writes: OwnWrites };
  /** Requests so far, as `PATCH candies/lolly/status`. */
  sent(): readonly string[];
}

export function runsByHand(
  world: ControllerWorld,
  definition: ControllerDefinition = wrapping,
  through: (inner: Transport) => Transport = (inner) => inner,
): RunsByHand {
  const { host } = world;
  const client = createClient(through(world.faults), host);
  const cache = new ControllerCache(definition, new InformerFactory(client, host), undefined);
  const state = new KeyState("default/lolly");
  const memory = state.writes;
  const planned: string[] = [];
  const note = ({ verb, object, isNew }: PlannedWrite): void =>
    void planned.push(`${verb} ${object.metadata.name}${isNew ? " new" : ""}`);
  const storeOf = (object: KubeObject) => {
    const { kind } = cache.ofObject(object);
    const informer = cache.informerOf(kind, object.metadata.namespace);
    if (informer === undefined) throw new Error(`${kind.plural} are cached`);
    return informer.store;
  };
  const queue = { addAfter: () => {} };
  const ports = {
    definition,
    client,
    host,
    log: host.log,
    cache,
    info: {
      fieldManager: definition.fieldManager,
      cluster: undefined,
      outdated: () => cache.outdated(),
      changesOutside: () => {},
      cannotReach: () => false,
    },
    state,
    memory,
    assertMayWrite: () => {},
    queue,
    failedLate: () => {},
  };
  const events = new EventRecorder(client, host, "by-hand");
  return {
    memory,
    planned,
    show(object) {
      const { managedFields: _, ...metadata } = object.metadata;
      const shown = { ...object, metadata } as typeof object;
      storeOf(object).set(storeKey(metadata), shown);
      return shown;
    },
    hide: (object) => void storeOf(object).delete(storeKey(object.metadata)),
    begin(object) {
      const writes = new OwnWrites(cache);
      const guard = { check: note, written: () => {} };
      const run = createRun(object, { ...ports, writes, events, guard, signal: new AbortController().signal });
      return { ...run, writes };
    },
    sent: () => world.faults.sent.map(({ request }) => `${request.method} ${placeOf(request.path)}`),
  };
}

function placeOf(path: string): string {
  return path.replace(/^.*\/(namespaces\/[^/]+\/)?(?=(candies|configmaps)\/)/, "");
}

/** Reads an object that must be there. */
export function stored<T extends KubeObject>(
  world: ControllerWorld,
  kind: KindRef<T>,
  name: string,
): Promise<Stored<T>> {
  return world.client.get(kind, { name, namespace: "default" });
}
