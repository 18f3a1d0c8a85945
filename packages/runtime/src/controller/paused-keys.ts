import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import type { Host, Logger } from "@setpoint/host";
import type { EventRecorder } from "../events/event-recorder.ts";
import { pausedAnnotation, pausedMessage } from "./always-wakes.ts";

export interface PausedKeysOptions {
  readonly controller: string;
  readonly host: Host;
  readonly log: Logger;
  readonly events: EventRecorder;
}

/** Which objects a person has paused; says so when it begins and ends, and stays silent in between. */
export class PausedKeys {
  readonly #options: PausedKeysOptions;
  readonly #keys = new Set<string>();

  constructor(options: PausedKeysOptions) {
    this.#options = options;
  }

  /** `isNews`: the object was not paused before, so its user is told; at a start everybody knows. */
  pause(key: string, object: Stored<KubeObject>, isNews: boolean): void {
    if (this.#keys.has(key)) return;
    this.#keys.add(key);
    this.#options.log.info("Paused an object", { object: key, annotation: pausedAnnotation });
    if (isNews) this.#tell(object, "Paused", pausedMessage);
    this.#count();
  }

  resume(key: string, object: Stored<KubeObject>): void {
    if (this.#keys.size === 0 || !this.#keys.delete(key)) return;
    this.#options.log.info("Resumed an object", { object: key });
    this.#tell(object, "Resumed", "Reconciled again");
    this.#count();
  }

  forget(key: string): void {
    if (this.#keys.delete(key)) this.#count();
  }

  #tell(object: Stored<KubeObject>, reason: string, message: string): void {
    this.#options.events.record(object, this.#options.controller, { type: "Normal", reason, message });
  }

  #count(): void {
    this.#options.host.metrics
      .gauge("setpoint_paused_objects", "Objects that are not reconciled because a person paused them.")
      .set(this.#keys.size, { controller: this.#options.controller });
  }
}
