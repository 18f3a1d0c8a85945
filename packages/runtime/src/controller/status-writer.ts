import { isConflict, type KubeObject } from "@setpoint/apimachinery";
import type { Client, KindRef, Stored } from "@setpoint/client";
import { timestamp, type Clock, type Logger } from "@setpoint/host";
import { covers } from "../objects/covers.ts";
import { isDeepEqual } from "../objects/deep-equal.ts";
import type { AnyConditionProtocol } from "./condition-protocol.ts";
import { completeConditions, conditionsOf } from "./conditions.ts";
import type { ConditionInit } from "./reconcile-context.ts";
import type { ReconcileMemory } from "./reconcile-memory.ts";
import { isRefused } from "./stalled.ts";
import { declaresStatusField } from "./status-field.ts";

/** What the status writer needs of a run. */
export interface StatusPorts {
  readonly kind: KindRef;
  readonly fieldManager: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly memory: ReconcileMemory;
  /** Of the object that this run looks at; what the cache has learned meanwhile was not observed. */
  readonly generation: number | undefined;
  readonly health?: AnyConditionProtocol | undefined;
  /** The reconciled object as it is now, own writes included. */
  current(): Stored<KubeObject>;
  /** Asks the server for it, so that `current` is that; undefined when it is gone, another one, or of another generation. */
  refresh(): Promise<Stored<KubeObject> | undefined>;
  /** Sends the write and notes what became of it. */
  write(send: () => Promise<Stored<KubeObject>>): Promise<Stored<KubeObject>>;
}

/** How often a write is made anew that met a change by others. */
const attemptsMax = 4;

/** Collects the status and the conditions of one run and writes them when they differ from what is there. */
export class StatusWriter {
  readonly #ports: StatusPorts;
  readonly #conditions = new Map<string, ConditionInit>();
  #isDirty = false;
  #isConcluded = false;

  constructor(ports: StatusPorts) {
    this.#ports = ports;
  }

  condition(condition: ConditionInit): void {
    this.#conditions.set(condition.type, condition);
    this.#isDirty = true;
  }

  /** The run has ended well: what an earlier one was refused is over. */
  conclude(): void {
    this.#isConcluded = true;
  }

  /** Whether this run has said a condition. */
  hasSaid(type: string): boolean {
    return this.#conditions.has(type);
  }

  /**
   * Replaces the status; conditions that neither it nor this run names stay as they are. Conditions that bring their own
   * times (those of apps/v1 have others than meta/v1's) are written as they come.
   */
  async replace(status: object): Promise<void> {
    const named = conditionsOf(status);
    if (named.length > 0 && named.every((each) => each.lastTransitionTime !== undefined))
      return this.#settle(() => this.#send({ ...status }));
    for (const condition of named) this.#conditions.set(condition.type, condition);
    await this.#settle(() => this.#write({ ...status }, named.length > 0));
  }

  /** Writes conditions that no `replace` has written; with declared conditions also those that are missing. */
  async flush(): Promise<void> {
    if (this.#isDirty || this.#ports.health !== undefined)
      await this.#settle(() => this.#write({ ...statusOf(this.#ports.current()) }, false));
  }

  /**
   * A status is written only over the one that it was made for: a write that a network brings late would otherwise put an old
   * status over a newer one, and no change would wake anybody to mend it. What others change meanwhile is taken in and the
   * write made anew; a new generation is for the next run.
   */
  async #settle(write: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await write();
      } catch (error) {
        if (!isConflict(error) || attempt >= attemptsMax || (await this.#ports.refresh()) === undefined) throw error;
      }
    }
  }

  async #write(status: Record<string, unknown>, isComplete: boolean): Promise<void> {
    const { clock, generation } = this.#ports;
    const before = conditionsOf(statusOf(this.#ports.current()));
    const said = [...this.#conditions.values()];
    const kept = isComplete ? [] : before.filter((each) => !this.#conditions.has(each.type));
    const derived = this.#derived(said, kept);
    const own = completeConditions([...said, ...derived], before, generation, timestamp(clock));
    const isOwn = new Set(own.map(({ type }) => type));
    const others = kept.filter(({ type }) => !isOwn.has(type));
    if (own.length + others.length > 0) status["conditions"] = inOrder([...own, ...others], before);
    await this.#send(status);
  }

  /** What follows from the declaration: conditions nobody has said yet, and the summary. */
  #derived(said: readonly ConditionInit[], kept: readonly ConditionInit[]): readonly ConditionInit[] {
    const { health, generation } = this.#ports;
    if (health === undefined) return [];
    const missing = health.missing([...said, ...kept]);
    // What was refused earlier counts until a run has ended well; otherwise the condition would flap at each attempt.
    const all = [...said, ...missing, ...kept.filter((each) => !this.#isConcluded && isRefused(each))];
    all.push(...kept.filter(({ type }) => type !== "Stalled"));
    return [...missing, ...health.summary(all, generation)].filter(({ type }) => !this.#conditions.has(type));
  }

  async #send(said: Record<string, unknown>): Promise<void> {
    const { memory, log, kind } = this.#ports;
    this.#isDirty = false;
    const object = this.#ports.current();
    const present = statusOf(object);
    // Through JSON, so that what is compared is what is sent: fields that are undefined do not exist.
    const text = JSON.stringify(this.#observed(said));
    const wanted: unknown = JSON.parse(text);
    if (
      isDeepEqual(present ?? {}, wanted) ||
      memory.isKnownNoop(object.metadata.uid, "status", text, JSON.stringify(present))
    )
      return;
    const answer = await this.#ports.write(() => this.#apply(object, wanted));
    memory.remember(object.metadata.uid, "status", text, JSON.stringify(statusOf(answer)));
    if (!covers(statusOf(answer), wanted))
      log.warn("Status has fields that the server did not keep: are they in the kind's schema?", {
        resource: kind.plural,
      });
  }

  /** A status that has a place for it says which generation it is about. */
  #observed(status: Record<string, unknown>): Record<string, unknown> {
    const { kind, generation } = this.#ports;
    if (generation === undefined || !declaresStatusField(kind, "observedGeneration")) return status;
    return { ...status, observedGeneration: generation };
  }

  #apply(object: Stored<KubeObject>, status: unknown): Promise<Stored<KubeObject>> {
    const { client, kind, fieldManager, signal } = this.#ports;
    const { name, namespace, uid, resourceVersion } = object.metadata;
    const metadata = { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion };
    const body = { apiVersion: object.apiVersion, kind: object.kind, metadata, status };
    return client.applyStatus<KubeObject>(kind, body, { fieldManager, force: true, signal });
  }
}

function statusOf(object: KubeObject): object | undefined {
  return (object as { readonly status?: object }).status;
}

/** Keeps the order that is there, so that the same conditions are the same list. */
function inOrder<C extends { readonly type: string }>(
  conditions: readonly C[],
  before: readonly { readonly type: string }[],
): readonly C[] {
  const place = new Map(before.map((each, index) => [each.type, index]));
  return conditions.toSorted((a, b) => (place.get(a.type) ?? before.length) - (place.get(b.type) ?? before.length));
}
