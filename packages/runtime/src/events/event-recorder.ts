/** Tells users of objects what happened to them, in Events of events.k8s.io/v1. */
import { createKind, isNotFound, type Kind, type KubeObject, type ObjectMeta } from "@setpoint/apimachinery";
import type { Client, StoredMeta } from "@setpoint/client";
import { microTimestamp, type Counter, type Host } from "@setpoint/host";
import { EventBudget } from "./event-budget.ts";

/** Equal events within so long become one series; as client-go's. */
const seriesMsMax = 360_000;
/** Series that are remembered; the oldest is forgotten first. */
const seriesCountMax = 4_096;
/**
 * A continuing series is written at least this often: servers delete events an hour after their last change.
 */
const seriesSilenceMsMax = 1_800_000;
/** Events on their way; more are dropped, because events are help and not state. */
const pendingMax = 100;
/** The API's limits: `note` in bytes, `reason` and `action` in characters. */
const noteBytesMax = 1_024;
const reasonLengthMax = 128;
/** Leaves room for the suffix in a name of at most 253 characters. */
const nameLengthMax = 230;

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
  readonly event: Event;
  readonly lastMs: number;
  readonly writtenMs: number;
  readonly count: number;
  /** The creation, so that no count is written before it. */
  readonly created: Promise<boolean>;
}

/** The object that an event is about. A Node names itself without having read its own object. */
export interface EventSubject extends KubeObject {
  readonly metadata: Pick<ObjectMeta, "namespace" | "resourceVersion"> & Pick<StoredMeta, "name" | "uid">;
}

/** The part of an Event that the author writes. The recorder adds the object, the times and the count. */
export interface EventInit {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** The part of the object, for example `spec.containers{main}`; absent: the object itself. */
  readonly fieldPath?: string;
}

/**
 * Guarantees: never throws and never makes anybody wait. An event that is equal to one of the last six
 * minutes is counted in its series; one object causes 25 new events at once and one every five minutes after
 * that, the rest is dropped and counted in `setpoint_events_dropped_total`.
 */
export class EventRecorder {
  readonly #client: Client;
  readonly #host: Host;
  readonly #instance: string;
  readonly #series = new Map<string, Series>();
  readonly #pending = new Set<Promise<unknown>>();
  readonly #budget = new EventBudget();
  readonly #dropped: Counter;

  constructor(client: Client, host: Host, instance: string) {
    this.#client = client;
    this.#host = host;
    this.#instance = instance;
    this.#dropped = host.metrics.counter(
      "setpoint_events_dropped_total",
      "Events that were not written, to spare the server.",
    );
  }

  record(object: EventSubject, controller: string, event: EventInit): void {
    if (this.#pending.size >= pendingMax) return this.#drop(event, "too many are on their way");
    const { fieldPath = "", type, reason, message } = event;
    const key = [object.metadata.uid, controller, fieldPath, type, reason, message].join("\n");
    const nowMs = this.#host.clock.monotonic();
    const before = this.#series.get(key);
    if (before !== undefined && nowMs - before.lastMs < seriesMsMax) return this.#goOn(key, before, nowMs);
    if (!this.#budget.take(object.metadata.uid, nowMs)) return this.#drop(event, "the object has had many");
    this.#remember(key, this.#begin(object, controller, event, nowMs));
  }

  #drop({ reason }: EventInit, why: string): void {
    this.#dropped.add();
    this.#host.log.debug("Event was dropped", { reason, why });
  }

  /** Counts are written when they double: often enough to tell, rarely enough not to disturb. */
  #goOn(key: string, before: Series, nowMs: number): void {
    const count = before.count + 1;
    const isDue = (count & (count - 1)) === 0 || nowMs - before.writtenMs >= seriesSilenceMsMax;
    const series = { ...before, lastMs: nowMs, count, ...(isDue ? { writtenMs: nowMs } : {}) };
    this.#remember(key, series);
    if (isDue) this.#track(this.#writeCount(series));
  }

  /** Resolves when all events are written or given up. */
  async flushed(): Promise<void> {
    await Promise.all(this.#pending);
  }

  #begin(object: EventSubject, controller: string, init: EventInit, nowMs: number): Series {
    const { name, uid, resourceVersion } = object.metadata;
    const namespace = object.metadata.namespace ?? "default";
    const event = Event({
      name: `${name.slice(0, nameLengthMax)}.${this.#suffix()}`,
      namespace,
      eventTime: microTimestamp(this.#host.clock),
      type: init.type,
      reason: init.reason.slice(0, reasonLengthMax),
      note: cutToBytes(init.message, noteBytesMax),
      action: init.reason.slice(0, reasonLengthMax),
      reportingController: controller,
      reportingInstance: this.#instance,
      regarding: {
        apiVersion: object.apiVersion,
        kind: object.kind,
        name,
        uid,
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
        ...(init.fieldPath === undefined ? {} : { fieldPath: init.fieldPath }),
        ...(object.metadata.namespace === undefined ? {} : { namespace }),
      },
    });
    const created = this.#attempt(() => this.#client.create<Event>(Event, event));
    this.#track(created);
    return { event, lastMs: nowMs, writtenMs: nowMs, count: 1, created };
  }

  /** The time, so that the events of an object list in their order, and some chance against equal ones. */
  #suffix(): string {
    const nowMs = this.#host.clock.now();
    // In two parts: a number of more than 31 bits takes V8 ten times as long to write so.
    const time =
      Math.floor(nowMs / 2 ** 24)
        .toString(16)
        .padStart(5, "0") + (nowMs % 2 ** 24).toString(16).padStart(6, "0");
    return time + this.#host.random.uuid().slice(0, 5);
  }

  async #writeCount({ event, count, created }: Series): Promise<void> {
    if (!(await created)) return;
    const series = { count, lastObservedTime: microTimestamp(this.#host.clock) };
    const { name = "", namespace = "" } = event.metadata;
    await this.#attempt(async () => {
      try {
        await this.#client.patch(Event, { name, namespace }, { series });
      } catch (error) {
        // The server has forgotten it, but it goes on.
        if (!isNotFound(error)) throw error;
        await this.#client.create<Event>(Event, { ...event, series });
      }
    });
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

/** The beginning of a text, of so many bytes of UTF-8 at most. */
function cutToBytes(text: string, bytesMax: number): string {
  // A code unit has at most three bytes.
  if (text.length * 3 <= bytesMax) return text;
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= bytesMax) return text;
  let end = bytesMax;
  // Not in the middle of a character: bytes that continue one begin with 10.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return new TextDecoder().decode(bytes.subarray(0, end));
}
