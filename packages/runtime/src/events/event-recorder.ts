/** Tells users of objects what happened to them, in Events of events.k8s.io/v1. */
import { createKind, type Kind, type KubeObject } from "@setpoint/apimachinery";
import type { Client, Stored } from "@setpoint/client";
import { microTimestamp, type Host } from "@setpoint/host";

/** Equal events within so long become one series; as client-go's. */
const seriesMsMax = 360_000;
/** Series that are remembered; the oldest is forgotten first. */
const seriesCountMax = 4_096;
/** Events on their way; more are dropped, because events are help and not state. */
const pendingMax = 100;
/** The API's limit for `note`. */
const noteLengthMax = 1_024;

interface Event extends KubeObject {
  readonly eventTime: string;
  readonly type: string;
  readonly reason: string;
  readonly note: string;
  readonly action: string;
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly regarding: Readonly<Record<string, string | undefined>>;
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
}

const Event: Kind<Event> = createKind<Event>({
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
  namespaced: true,
});

interface Series {
  readonly name: string;
  readonly namespace: string;
  readonly lastMs: number;
  readonly count: number;
  /** The creation, so that no count is written before it. */
  readonly created: Promise<boolean>;
}

export interface EventInit {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** Never throws and never makes anybody wait. */
export class EventRecorder {
  readonly #client: Client;
  readonly #host: Host;
  readonly #instance: string;
  readonly #series = new Map<string, Series>();
  readonly #pending = new Set<Promise<unknown>>();

  constructor(client: Client, host: Host, instance: string) {
    this.#client = client;
    this.#host = host;
    this.#instance = instance;
  }

  record(object: Stored<KubeObject>, controller: string, event: EventInit): void {
    if (this.#pending.size >= pendingMax) {
      this.#host.log.warn("Event was dropped", { reason: event.reason, pending: this.#pending.size });
      return;
    }
    const key = JSON.stringify([object.metadata.uid, controller, event.type, event.reason, event.message]);
    const nowMs = this.#host.clock.monotonic();
    const before = this.#series.get(key);
    const isSeries = before !== undefined && nowMs - before.lastMs < seriesMsMax;
    const series = isSeries
      ? { ...before, lastMs: nowMs, count: before.count + 1 }
      : this.#begin(object, controller, event, nowMs);
    this.#remember(key, series);
    // Counts are written when they double: often enough to tell, rarely enough not to disturb.
    if (isSeries && (series.count & (series.count - 1)) === 0) this.#track(this.#writeCount(series));
  }

  /** Resolves when all events are written or given up. */
  async flushed(): Promise<void> {
    await Promise.all(this.#pending);
  }

  #begin(object: Stored<KubeObject>, controller: string, event: EventInit, nowMs: number): Series {
    const { name, uid, resourceVersion } = object.metadata;
    const namespace = object.metadata.namespace ?? "default";
    const eventName = `${name}.${this.#suffix()}`;
    const created = this.#create({
      ...Event({
        name: eventName,
        namespace,
        eventTime: microTimestamp(this.#host.clock),
        type: event.type,
        reason: event.reason,
        note: event.message.slice(0, noteLengthMax),
        action: event.reason,
        reportingController: controller,
        reportingInstance: this.#instance,
        regarding: {
          apiVersion: object.apiVersion,
          kind: object.kind,
          name,
          uid,
          resourceVersion,
          ...(object.metadata.namespace === undefined ? {} : { namespace }),
        },
      }),
    });
    this.#track(created);
    return { name: eventName, namespace, lastMs: nowMs, count: 1, created };
  }

  /** The time, so that the events of an object list in their order, and some chance against equal ones. */
  #suffix(): string {
    const time = this.#host.clock.now().toString(16).padStart(11, "0");
    return time + this.#host.random.uuid().slice(0, 5);
  }

  async #create(event: Event): Promise<boolean> {
    return this.#attempt(() => this.#client.create<Event>(Event, event));
  }

  async #writeCount(series: Series): Promise<void> {
    if (!(await series.created)) return;
    const lastObservedTime = microTimestamp(this.#host.clock);
    await this.#attempt(() => this.#client.patch(Event, series, { series: { count: series.count, lastObservedTime } }));
  }

  async #attempt(write: () => Promise<unknown>): Promise<boolean> {
    try {
      await write();
      return true;
    } catch (error) {
      this.#host.log.debug("Event was not written", { error });
      return false;
    }
  }

  #track(promise: Promise<unknown>): void {
    const tracked = promise.finally(() => this.#pending.delete(tracked));
    this.#pending.add(tracked);
  }

  #remember(key: string, series: Series): void {
    this.#series.delete(key);
    this.#series.set(key, series);
    if (this.#series.size <= seriesCountMax) return;
    const oldest = this.#series.keys().next();
    if (oldest.done !== true) this.#series.delete(oldest.value);
  }
}
