import { encodeJson, isConflict, type Condition, type KubeObject, deepEqual } from "@setpoint/apimachinery";
import { isBuiltinGroup, type Client, type KindRef, type Stored } from "@setpoint/client";
import { timestamp, type Clock, type Logger } from "@setpoint/host";
import { asJson } from "../objects/as-json.ts";
import { covers } from "../objects/covers.ts";
import type { AnyConditionProtocol } from "../controller/condition-protocol.ts";
import { completeConditions, conditionsOf } from "./conditions.ts";
import { isFailureCondition } from "./failure-condition.ts";
import { ownStatusOf, type OwnStatus } from "./own-status.ts";
import { keyOf } from "../writes/place-child.ts";
import type { ConditionInit } from "../controller/reconcile-context.ts";
import type { WriteMemory } from "../writes/write-memory.ts";
import { isRefused } from "./stalled.ts";
import { declaresStatusField } from "../controller/status-field.ts";

/** What the status writer needs of a run. */
export interface StatusPorts {
  readonly kind: KindRef;
  readonly fieldManager: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly memory: WriteMemory;
  /** The generation that this run observes. The cache may have a newer one by now. */
  readonly generation: number | undefined;
  readonly health?: AnyConditionProtocol | undefined;
  /** The reconciled object as it is now, own writes included. */
  current(): Stored<KubeObject>;
  /** Reads the object from the server into `current`; undefined when it is gone or has another UID. */
  ask(): Promise<Stored<KubeObject> | undefined>;
  /** Sends the write and notes its outcome. */
  write(send: () => Promise<Stored<KubeObject>>): Promise<Stored<KubeObject>>;
}

/** How often a write is retried after a conflict. */
const attemptsMax = 4;

/** The field of a status that says when its controller last checked and found something else to write. */
const checkedField = "lastChecked";

type Fields = Readonly<Record<string, unknown>>;

/** What a status is to be. */
interface Draft {
  /** Undefined: what is there, and what of it is ours. */
  readonly fields: Fields | undefined;
  readonly said: readonly Condition[];
  /** Conditions that are there and stay, ours of earlier runs and those of others. */
  readonly kept: readonly Condition[];
}

/** A status that differs from the object's. */
interface Wanted {
  readonly draft: Draft;
  /**
   * The status as a whole, of which not everything needs to be ours, as JSON has it: a field that is
   * undefined does not exist.
   */
  readonly whole: Fields;
}

/** Collects the status and the conditions of one run and writes them when they differ from what is there. */
export class StatusWriter {
  readonly #ports: StatusPorts;
  readonly #conditions = new Map<string, ConditionInit>();
  #isConcluded = false;
  /** Counts the changes to the status and conditions of this run. */
  #sayings = 0;
  /** How many of them a `replace` has written, and the revision with them. */
  #written: { readonly sayings: number; readonly resourceVersion: string } | undefined;
  /** The object is gone or has a new generation: the next run writes the status. */
  #isOutdated = false;
  /** The object as the server last returned it. Unlike the cache it has managedFields. */
  #told: Stored<KubeObject> | undefined;

  constructor(ports: StatusPorts) {
    this.#ports = ports;
  }

  condition(condition: ConditionInit): void {
    this.#conditions.set(condition.type, condition);
    this.#sayings++;
  }

  /** The run succeeded: the refusal of an earlier run is over. */
  conclude(): void {
    this.#isConcluded = true;
    if (this.#ports.health !== undefined || this.#reportsFailure()) this.#sayings++;
  }

  /** Whether a condition of this run already makes the object not ready, with the author's reason. */
  explainsNotReady(): boolean {
    const said = [...this.#conditions.values()];
    const derived = this.#ports.health?.summary(said, this.#ports.generation) ?? [];
    return [...said, ...derived].some(
      (each) => each.type === "Ready" && each.status === "False" && !isFailureCondition(each),
    );
  }

  /** Whether this run has set a condition. */
  hasSaid(type: string): boolean {
    return this.#conditions.has(type);
  }

  /**
   * Replaces this controller's part of the status. Conditions that neither it nor this run names stay as they
   * are. Conditions with their own times (apps/v1 has others than meta/v1) are written as given, and an empty
   * list of conditions removes them.
   */
  async replace(status: object): Promise<void> {
    // Any object can be read as its fields.
    const fields = status as Fields;
    const named = conditionsOf(fields);
    if (named.length > 0 && named.every((each) => each.lastTransitionTime !== undefined))
      return this.#settle(() => ({ fields, said: [], kept: [] }));
    if (named.length === 0 && Array.isArray(fields["conditions"]) && this.#conditions.size === 0) {
      const { conditions: _, ...others } = fields;
      return this.#settle(() => ({ fields: others, said: [], kept: [] }));
    }
    for (const condition of named) this.condition(condition);
    const sayings = this.#sayings;
    await this.#settle(() => this.#completed(fields, named.length > 0));
    this.#written = { sayings, resourceVersion: this.#ports.current().metadata.resourceVersion };
  }

  /**
   * Writes conditions that no `replace` has written, for example when the author continues after a refused
   * status. With declared conditions it also writes the missing ones.
   */
  async flush(signal?: AbortSignal): Promise<void> {
    const isEmpty = this.#conditions.size === 0 && this.#ports.health === undefined;
    if (this.#isOutdated || (isEmpty && !(this.#isConcluded && this.#reportsFailure()))) return;
    const { sayings, resourceVersion } = this.#written ?? {};
    if (sayings === this.#sayings && resourceVersion === this.#ports.current().metadata.resourceVersion) return;
    await this.#settle(() => this.#completed(undefined, false), signal);
  }

  /**
   * Writes a status only over the one that it was computed from. Otherwise a delayed write could put an old
   * status over a newer one, and no change would wake the key to correct it. After a conflict it includes the
   * changes of other managers and retries. A new generation is left to the next run.
   */
  async #settle(make: () => Draft, signal: AbortSignal = this.#ports.signal): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        let wanted = this.#missing(make());
        if (wanted !== undefined && this.#needsOwner(wanted.draft) && this.#own() === undefined) {
          await this.#ask();
          wanted = this.#missing(make());
        }
        if (wanted !== undefined) await this.#send(wanted, signal);
        return;
      } catch (error) {
        if (!isConflict(error) || attempt >= attemptsMax) throw error;
        const now = await this.#ask();
        this.#isOutdated = now === undefined || now.metadata.generation !== this.#ports.generation;
        if (this.#isOutdated) throw error;
      }
    }
  }

  #completed(fields: Fields | undefined, isComplete: boolean): Draft {
    const { clock, generation } = this.#ports;
    const before = conditionsOf(statusOf(this.#ports.current()));
    const said = this.#statedConditions(before);
    const isStated = (type: string): boolean => said.some((each) => each.type === type);
    const kept = before.filter((each) =>
      isFailureCondition(each)
        ? !this.#isConcluded && !isStated(each.type) && !this.explainsNotReady()
        : !isComplete && !this.#conditions.has(each.type),
    );
    const derived = this.#derived(said, kept);
    const stated = [...said, ...derived];
    const own = stated.length === 0 ? [] : completeConditions(stated, before, generation, timestamp(clock));
    if (derived.length === 0) return { fields, said: own, kept };
    const isOwn = new Set(own.map(({ type }) => type));
    return { fields, said: own, kept: kept.filter(({ type }) => !isOwn.has(type)) };
  }

  /**
   * A reported failure stands until a run has succeeded; otherwise the condition would flap at each attempt.
   */
  #statedConditions(before: readonly Condition[]): readonly ConditionInit[] {
    const said = [...this.#conditions.values()];
    if (this.#isConcluded || !before.some(isFailureCondition)) return said;
    return said.filter((each) => each.type !== "Ready" || each.status === "False");
  }

  #reportsFailure(): boolean {
    return conditionsOf(statusOf(this.#ports.current())).some(isFailureCondition);
  }

  /** The declared conditions that no run has set yet, and the summary. */
  #derived(said: readonly ConditionInit[], kept: readonly ConditionInit[]): readonly ConditionInit[] {
    const { health, generation } = this.#ports;
    if (health === undefined) return [];
    const missing = health.missing([...said, ...kept]);
    // An earlier refusal counts until a run has succeeded; otherwise the condition would flap at each
    // attempt.
    const all = [...said, ...missing, ...kept.filter((each) => !this.#isConcluded && isRefused(each))];
    all.push(...kept.filter(({ type }) => type !== "Stalled"));
    return [...missing, ...health.summary(all, generation)].filter(({ type }) => !this.#conditions.has(type));
  }

  /** Undefined when the object already has this status, or has what the server made of it earlier. */
  #missing(draft: Draft): Wanted | undefined {
    const object = this.#ports.current();
    const present = statusOf(object);
    const { fields, said, kept } = draft;
    const assembled = this.#assembled(fields ?? present, [...said, ...kept], conditionsOf(present));
    if (deepEqual(present, assembled)) return undefined;
    const whole = asJson(assembled);
    if (deepEqual(present, whole)) return undefined;
    const wanted = (): string => encodeJson(whole);
    const there = (): string => encodeJson(present);
    const isKnown = this.#ports.memory.isKnownNoop("status", wanted, there);
    return isKnown ? undefined : { draft, whole };
  }

  async #ask(): Promise<Stored<KubeObject> | undefined> {
    this.#told = await this.#ports.ask();
    return this.#told;
  }

  /** The part of the object's current status that this manager owns; undefined when unknown. */
  #own(): OwnStatus | undefined {
    const object = this.#ports.current();
    const told = this.#told?.metadata.resourceVersion === object.metadata.resourceVersion ? this.#told : object;
    return ownStatusOf(told, this.#ports.fieldManager);
  }

  /**
   * Whether a condition of an earlier run or of another manager stays. The cache does not show which of them
   * wrote it.
   */
  #needsOwner({ fields, kept }: Draft): boolean {
    if (kept.length > 0) return true;
    if (fields !== undefined) return false;
    const { conditions: _, observedGeneration: __, ...others } = statusOf(this.#ports.current());
    return Object.keys(others).length > 0;
  }

  async #send(wanted: Wanted, signal: AbortSignal): Promise<void> {
    const { memory, log, kind } = this.#ports;
    const whole = this.#checked(wanted.whole);
    const object = this.#ports.current();
    const mine = this.#checked(this.#mine(wanted));
    const answer = await this.#ports.write(() => this.#apply(object, mine, signal));
    this.#told = answer;
    const taken = statusOf(answer);
    if (deepEqual(taken, whole)) return;
    memory.remember("status", encodeJson(whole), encodeJson(taken));
    // The server leaves empty fields of built-in kinds out, and their schema is not the author's.
    const fields = isBuiltinGroup(kind.group) ? [] : fieldsNotKept(taken, whole);
    if (fields.length > 0)
      log.warn("Status has fields that the server did not keep: are they in the kind's schema?", {
        resource: kind.plural,
        fields,
      });
  }

  /**
   * The part of the status that this controller writes, now or in earlier runs. Applying other managers'
   * fields would make it an owner of them.
   */
  #mine({ draft, whole }: Wanted): Fields {
    const own = draft.fields !== undefined && draft.kept.length === 0 ? undefined : this.#own();
    if (own === undefined) return whole;
    const kept = own.conditions.filter(({ type }) => draft.kept.some((each) => each.type === type));
    const before = conditionsOf(statusOf(this.#ports.current()));
    return asJson(this.#assembled(draft.fields ?? own.fields, [...draft.said, ...kept], before));
  }

  /** A status with an `observedGeneration` gets the generation that it describes. */
  #assembled(fields: Fields, conditions: readonly Condition[], before: readonly Condition[]): Fields {
    const { kind, generation } = this.#ports;
    const isDated = generation !== undefined && declaresStatusField(kind, "observedGeneration");
    const assembled: Record<string, unknown> = { ...fields };
    // The time alone is no reason to write.
    const { [checkedField]: checked } = statusOf(this.#ports.current());
    if (checked !== undefined && declaresStatusField(kind, checkedField)) assembled[checkedField] = checked;
    if (isDated) assembled["observedGeneration"] = generation;
    if (conditions.length > 0) assembled["conditions"] = inOrder(conditions, before);
    // The last condition was a failure that is over.
    else if (before.some(isFailureCondition)) delete assembled["conditions"];
    return assembled;
  }

  /** A status that has a place for it says when it was checked; only with something else that is written. */
  #checked(fields: Fields): Fields {
    const { kind, clock } = this.#ports;
    return declaresStatusField(kind, checkedField) ? { ...fields, [checkedField]: timestamp(clock) } : fields;
  }

  #apply(object: Stored<KubeObject>, status: Fields, signal: AbortSignal): Promise<Stored<KubeObject>> {
    const { client, kind, fieldManager } = this.#ports;
    const { uid, resourceVersion } = object.metadata;
    // Server-side apply makes `null` of a map that loses its last field, and the API server refuses a status
    // that is null.
    if (Object.keys(status).length === 0) {
      const patch = { metadata: { uid, resourceVersion }, status: { conditions: null } };
      return client.patch<KubeObject>(kind, keyOf(object), patch, { fieldManager, signal, subresource: "status" });
    }
    const metadata = { ...keyOf(object), uid, resourceVersion };
    const body = { apiVersion: object.apiVersion, kind: object.kind, metadata, status };
    return client.applyStatus<KubeObject>(kind, body, { fieldManager, force: true, signal });
  }
}

function statusOf(object: KubeObject): Fields {
  return (object as { readonly status?: Fields }).status ?? {};
}

/** What the server has not kept of what was sent. It chooses the order of conditions. */
function fieldsNotKept(answer: Fields, sent: Fields): readonly string[] {
  const { conditions: _, ...fields } = sent;
  const lost = Object.keys(fields).filter((name) => !covers(answer, { [name]: fields[name] }));
  const taken = conditionsOf(answer);
  const isKept = (condition: Condition): boolean => {
    // Conditions of built-in kinds may have no place for the generation.
    const { observedGeneration: __, ...own } = condition;
    return covers(
      taken.find(({ type }) => type === condition.type),
      own,
    );
  };
  const lostConditions = conditionsOf(sent).filter((condition) => !isKept(condition));
  return [...lost, ...lostConditions.map(({ type }) => `conditions[${type}]`)];
}

/** Keeps the existing order, so that equal conditions are an equal list. */
function inOrder<C extends { readonly type: string }>(
  conditions: readonly C[],
  before: readonly { readonly type: string }[],
): readonly C[] {
  // Nearly always it is kept already.
  if (conditions.every(({ type }, index) => before[index]?.type === type)) return conditions;
  const place = new Map(before.map((each, index) => [each.type, index]));
  const placeOf = ({ type }: C): number => place.get(type) ?? before.length;
  return conditions.toSorted((a, b) => placeOf(a) - placeOf(b));
}
