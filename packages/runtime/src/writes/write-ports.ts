import type { Client } from "@setpoint/client";
import type { Host, Logger } from "@setpoint/host";
import type { EventRecorder } from "../events/event-recorder.ts";
import type { ControllerCache } from "../controller/controller-cache.ts";
import type { ControllerDefinition } from "../controller/controller-definition.ts";
import type { ControllerInfo } from "../controller/reconcile-context.ts";
import type { OwnWrites } from "./own-writes.ts";
import type { WriteMemory } from "./write-memory.ts";
import type { WriteGuard } from "./write-guard.ts";

/** What the reads and writes of a run need. */
export interface WritePorts {
  readonly definition: ControllerDefinition;
  readonly client: Client;
  /** The same for all runs of the controller. */
  readonly info: ControllerInfo;
  readonly host: Host;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Throws when the run may not write any more. */
  assertMayWrite(this: void): void;
  readonly cache: ControllerCache;
  readonly writes: OwnWrites;
  readonly memory: WriteMemory;
  readonly events: EventRecorder;
  /** Asked before each write of the run. */
  readonly guard?: WriteGuard;
}
