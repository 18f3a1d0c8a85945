import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import type { Host, Logger } from "@setpoint/host";
import { storeKey } from "../cache/store.ts";
import type { EventRecorder } from "../events/event-recorder.ts";
import { isPaused, pausedAnnotation, pausedMessage } from "../controller/always-wakes.ts";

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
  /** Keys whose objects were paused while somebody looked, until they run. */
  readonly #news = new Set<string>();

  constructor(options: PausedKeysOptions) {
    this.#options = options;
  }

  /** The object has changed before the eyes of this process: if it is paused now, its user will be told. At a start everybody knows. */
  changed(old: Stored<KubeObject>, next: Stored<KubeObject>): void {
    if (isPaused(next) && !isPaused(old)) this.#news.add(storeKey(next.metadata));
  }

  pause(key: string, object: Stored<KubeObject>): void {
    const isNews = this.#news.delete(key);
    if (this.#keys.has(key)) return;
    this.#keys.add(key);
    this.#options.log.info("Paused an object", { object: key, annotation: pausedAnnotation });
    if (isNews) this.#tell(object, "Paused", pausedMessage);
    this.#count();
  }

  resume(key: string, object: Stored<KubeObject>): void {
    this.#news.delete(key);
    if (this.#keys.size === 0 || !this.#keys.delete(key)) return;
    this.#options.log.info("Resumed an object", { object: key });
    this.#tell(object, "Resumed", "Reconciled again");
    this.#count();
  }

  forget(key: string): void {
    this.#news.delete(key);
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
