import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import type { DaemonRunner } from "../handlers/daemons.ts";
import type { Protections } from "../protection/protections.ts";
import type { WorkQueue } from "../queue/work-queue.ts";
import { isPaused } from "../controller/always-wakes.ts";
import type { ControllerCache } from "../controller/controller-cache.ts";
import type { ControllerDefinition } from "../controller/controller-definition.ts";
import type { Departures } from "./departures.ts";
import { parseKey } from "./key-order.ts";
import type { PausedKeys } from "./paused-keys.ts";
import type { ReconcileMemory } from "../writes/write-memory.ts";
import type { RunSupervisor } from "./run-supervisor.ts";

/** The parts of the controller that have a say in it, or remember something of a key. */
export interface DueKeysOptions {
  readonly definition: Pick<ControllerDefinition, "kind">;
  readonly cache: Pick<ControllerCache, "informerOf">;
  readonly queue: Pick<WorkQueue, "addAfter" | "forget">;
  readonly memory: Pick<ReconcileMemory, "forget">;
  readonly supervisor: Pick<RunSupervisor, "passed">;
  readonly protections: Pick<Protections, "waitMs" | "forget">;
  readonly departures: Pick<Departures, "has" | "forget">;
  readonly paused: Pick<PausedKeys, "pause" | "resume" | "forget">;
  readonly daemons: Pick<DaemonRunner, "stop"> | undefined;
  find(this: void, key: string): Stored<KubeObject> | undefined;
}

/** Which keys may run now, and what becomes of those that may not. */
export class DueKeys {
  readonly #options: DueKeysOptions;

  constructor(options: DueKeysOptions) {
    this.#options = options;
  }

  /** Whether the key has an object that may be reconciled now; if not, what is to be done instead is done. */
  isDue(key: string): boolean {
    const { find, queue, supervisor, protections, departures, paused, daemons } = this.#options;
    const object = find(key);
    // Also when there is a namesake already: it is a stranger.
    if (departures.has(key)) this.#forget(key);
    if (object === undefined) {
      supervisor.passed(key);
      return false;
    }
    if (isPaused(object)) {
      paused.pause(key, object);
      queue.forget(key);
      supervisor.passed(key);
      void daemons?.stop(key);
      return false;
    }
    paused.resume(key, object);
    const waitMs = protections.waitMs(key, object);
    if (waitMs > 0) queue.addAfter(key, waitMs);
    return waitMs <= 0;
  }

  /** The key belongs to another process. */
  pass(key: string): void {
    const { definition, cache, memory, supervisor } = this.#options;
    supervisor.passed(key);
    const version = cache.informerOf(definition.kind, parseKey(key).namespace)?.store.versionOf(key);
    if (version !== undefined) memory.forget(version.uid);
    this.#forget(key);
  }

  /** What is remembered of the key, and of its object if that is gone. */
  #forget(key: string): void {
    const { queue, protections, departures, paused, daemons } = this.#options;
    departures.forget(key);
    queue.forget(key);
    protections.forget(key);
    paused.forget(key);
    void daemons?.stop(key);
  }
}
