/**
 * What a controller has done outside of the cluster and how far its procedures are, as an annotation of the
 * object: bounded, written with the object's revision as precondition, and gone with the object
 * (decisions/0008).
 */
import { decodeJson, encodeJson, SetpointError, type KubeObject } from "@setpoint/apimachinery";
import { errLedger } from "../errors.ts";

/** Annotations under this prefix are ledgers; a change of them alone is no reason to run. */
export const ledgerPrefix = "ledger.setpoint.dev/";

/**
 * Effects and steps that are remembered of one object; a result's and the whole ledger's size in characters
 * of JSON.
 */
const effectsMax = 32;
const stepsMax = 32;
const resultLengthMax = 1_024;
const ledgerLengthMax = 16_384;

/** A value that survives a process: small, plain JSON. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };

/** JSON within a type of the author's; `never` where it holds a function or a symbol. */
type JsonWithin<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends ((...args: never[]) => unknown) | symbol | bigint
    ? never
    : JsonFields<T>;

type JsonFields<T> = { readonly [K in keyof T]: JsonWithin<T[K]> };

/**
 * `Json` for a type of the author's. `R extends JsonOf<R>` takes interfaces too: they have no index
 * signature, so they are no `Json`.
 */
export type JsonOf<T> = string | number | boolean | null | JsonFields<T>;

/** What is done has no time: equal histories leave equal ledgers. */
export type EffectRecord =
  | { readonly state: "intended"; readonly since: string }
  | { readonly state: "done"; readonly result: Json };

export interface StepRecord {
  readonly result?: Json;
}

export interface StepsRecord {
  /** What the procedure belongs to. With another key the procedure starts again. */
  readonly of: string;
  readonly done: Readonly<Record<string, StepRecord>>;
  readonly running?: { readonly name: string; readonly since: string };
}

export interface Ledger {
  /** Of the object: a copy of it is not the object. */
  readonly uid: string;
  readonly effects: Readonly<Record<string, EffectRecord>>;
  readonly steps?: StepsRecord;
}

export function ledgerOf(object: KubeObject, controller: string): Ledger {
  const { uid = "", annotations } = object.metadata;
  const empty = { uid, effects: {} };
  const text = annotations?.[ledgerPrefix + controller];
  if (text === undefined) return empty;
  try {
    // Only this code writes the annotation. When another client damages it, the ledger counts as empty.
    const ledger = decodeJson(text) as Ledger;
    return ledger.uid === uid && typeof ledger.effects === "object" ? ledger : empty;
  } catch {
    return empty;
  }
}

/** The ledger as it is kept; refuses one that would outgrow its place. */
export function ledgerText(ledger: Ledger): string {
  const text = encodeJson(ledger);
  if (text.length <= ledgerLengthMax) return text;
  throw new SetpointError(
    errLedger,
    `Cannot keep the ledger: it would have ${text.length} characters and at most ${ledgerLengthMax} are allowed; return smaller results`,
  );
}

/** What is recorded under a name; objects have names of their own, such as `constructor`. */
export function recordOf<R>(records: Readonly<Record<string, R>>, name: string): R | undefined {
  return Object.hasOwn(records, name) ? records[name] : undefined;
}

/**
 * The ledger with one effect added or changed. It drops the oldest finished effects; a repeated request for
 * one of them first looks for its result.
 */
export function withEffect(ledger: Ledger, id: string, record: EffectRecord): Ledger {
  const { [id]: _before, ...others } = ledger.effects;
  const effects = { ...others, [id]: record };
  const surplus = Object.keys(effects).length - effectsMax;
  const done = Object.keys(others).filter((each) => effects[each]?.state === "done");
  if (surplus > done.length)
    throw new SetpointError(
      errLedger,
      `Cannot begin effect "${id}": ${effectsMax} effects of this object are unfinished; complete one first`,
    );
  return fitting(without({ ...ledger, effects }, done.slice(0, Math.max(0, surplus))), id);
}

/**
 * Within its length, if forgetting effects can do it: what has been done must find its place, or it would be
 * done again.
 */
function fitting(ledger: Ledger, needed?: string): Ledger {
  let fit = ledger;
  for (const [id, { state }] of Object.entries(ledger.effects)) {
    if (encodeJson(fit).length <= ledgerLengthMax) break;
    if (state === "done" && id !== needed) fit = without(fit, [id]);
  }
  return fit;
}

function without(ledger: Ledger, ids: readonly string[]): Ledger {
  if (ids.length === 0) return ledger;
  return { ...ledger, effects: Object.fromEntries(Object.entries(ledger.effects).filter(([id]) => !ids.includes(id))) };
}

/** The steps of a procedure; none are done when they belong to another key. */
export function stepsOf(ledger: Ledger, of: string): StepsRecord {
  return ledger.steps?.of === of ? ledger.steps : { of, done: {} };
}

export function withStepRunning(ledger: Ledger, of: string, name: string, since: string): Ledger {
  const steps = stepsOf(ledger, of);
  if (steps.running?.name === name) return ledger;
  if (Object.keys(steps.done).length >= stepsMax)
    throw new SetpointError(errLedger, `Cannot begin step "${name}": a procedure has at most ${stepsMax} steps`);
  return fitting({ ...ledger, steps: { ...steps, running: { name, since } } });
}

export function withStepDone(ledger: Ledger, of: string, name: string, record: StepRecord): Ledger {
  const { done } = stepsOf(ledger, of);
  return fitting({ ...ledger, steps: { of, done: { ...done, [name]: record } } });
}

/** A result as it can be kept: through JSON, so that the first run gets what later runs will get. */
export function kept(what: string, result: Json): Json {
  const text = encodeJson(result);
  if (text.length <= resultLengthMax) return decodeJson(text) as Json;
  throw new SetpointError(
    errLedger,
    `Cannot keep the result of ${what}: it has ${text.length} characters and at most ${resultLengthMax} are allowed; return an id`,
  );
}
