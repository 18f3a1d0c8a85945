import type { KubeObject } from "@setpoint/apimachinery";
import type { Client, Stored } from "@setpoint/client";
import type { Host, Logger } from "@setpoint/host";
import type { ControllerCache } from "../controller/controller-cache.ts";
import type { ControllerDefinition } from "../controller/controller-definition.ts";
import type { ControllerInfo } from "../controller/reconcile-context.ts";
import type { EventRecorder } from "../events/event-recorder.ts";
import type { Protections } from "../protection/protections.ts";
import type { WorkQueue } from "../queue/work-queue.ts";
import type { ControllerMetrics } from "./controller-metrics.ts";
import type { KeyStates } from "./key-state.ts";
import type { RunSupervisor } from "./run-supervisor.ts";

/** The parts of a running controller that a reconcile of a key goes through. */
export interface Reconciler {
  readonly definition: ControllerDefinition;
  /** What its reconciles can ask about it. */
  readonly info: ControllerInfo;
  readonly client: Client;
  readonly host: Host;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly cache: ControllerCache;
  readonly queue: WorkQueue;
  readonly states: KeyStates;
  readonly supervisor: RunSupervisor;
  readonly protections: Protections;
  readonly metrics: ControllerMetrics;
  /** What runs beside each object; undefined when the author declares nothing. */
  readonly daemons: ObjectDaemons | undefined;
  /** Aborts the runs. */
  readonly signal: AbortSignal;
  /** Aborts when no key will run here again. */
  readonly closing: AbortSignal;
  /** The object of a key, as the cache shows it. */
  find(this: void, key: string): Stored<KubeObject> | undefined;
}

export interface ObjectDaemons {
  ensure(key: string, object: Stored<KubeObject>): void;
  /** Resolves when the key's daemons have ended. */
  stop(key: string): Promise<void>;
}
