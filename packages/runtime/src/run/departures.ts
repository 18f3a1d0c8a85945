import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import type { Logger } from "@setpoint/host";
import { storeKey } from "../cache/store.ts";
import type { EventRecorder } from "../events/event-recorder.ts";
import type { ControllerDefinition } from "../controller/controller-definition.ts";
import type { ReconcileMemory } from "../writes/write-memory.ts";

/** Who is told of departures, and what is forgotten after them. */
export interface DeparturesOptions {
  readonly definition: Pick<ControllerDefinition, "name" | "finalizer">;
  readonly log: Logger;
  readonly events: Pick<EventRecorder, "record">;
  readonly memory: Pick<ReconcileMemory, "forget">;
}

/** The objects that went away or left the controller's selection, until their keys run and what is remembered of them is forgotten. */
export class Departures {
  readonly #options: DeparturesOptions;
  /** UIDs by key. */
  readonly #gone = new Map<string, string>();

  constructor(options: DeparturesOptions) {
    this.#options = options;
  }

  /** Of several that went away since the key ran, something can be remembered of the first alone. */
  gone(key: string, uid: string): void {
    if (!this.#gone.has(key)) this.#gone.set(key, uid);
  }

  /** Whether another controller has it now, nobody here can know: so it is told, and the finalizer stays. */
  left(object: Stored<KubeObject>): void {
    const { log, events } = this.#options;
    const { name, finalizer } = this.#options.definition;
    const message = `It is not among the objects that controller "${name}" selects any more, and has its finalizer "${finalizer}": nobody here cleans up when it is deleted`;
    log.warn("Object has left the selection with the finalizer", { object: storeKey(object.metadata), finalizer });
    events.record(object, name, { type: "Warning", reason: "LeftSelection", message });
  }

  /** Whether an object of the key went away since the key ran, also when there is a namesake now. */
  has(key: string): boolean {
    return this.#gone.has(key);
  }

  /** Forgets the key's object that went away, if one did. */
  forget(key: string): void {
    const uid = this.#gone.get(key);
    if (uid !== undefined) this.#options.memory.forget(uid);
    this.#gone.delete(key);
  }
}
