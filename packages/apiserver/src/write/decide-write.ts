/**
 * A write is decided at the head of its key, synchronously, as long as nobody has to be asked. When a webhook has to be, the
 * decision is suspended, the storage goes on, and the outcome is stored only if the key is still what it was decided on.
 */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import type { StorageKey, StorageResult } from "../storage/storage.ts";
import { conflict, modifiedMessage } from "../response/api-errors.ts";
import type { Waits } from "../registry/waits.ts";
import type { RegistryContext } from "../registry/registry-context.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";

export type Outcome = UnstructuredObject | "delete" | "keep";

/** Decides anew from the state that it is given; it may run several times. */
export type WaitingDecision = (current: UnstructuredObject | undefined) => Waits<Outcome>;

/** How often a write begins again because something moved while a webhook was asked. */
const attemptsMax = 10;

/** Where a write goes. */
export interface WriteTarget {
  readonly definition: ResourceDefinition;
  readonly key: StorageKey;
  readonly name: string;
  /** Only decides: the outcome is thrown away. */
  readonly dryRun: boolean;
  /** Whether an outcome that was waited for may still be stored. */
  holds?(this: void, object: UnstructuredObject): boolean;
}

interface Suspended {
  readonly steps: Waits<Outcome>;
  readonly base: UnstructuredObject | undefined;
  readonly wait: Promise<void>;
}

export async function decideWrite(
  context: RegistryContext,
  target: WriteTarget,
  decide: WaitingDecision,
): Promise<StorageResult> {
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const begun = await begin(context, target, decide);
    if (begun.result !== undefined) return begun.result;
    const outcome = await resume(begun.suspended);
    const result = await finish(context, target, begun.suspended.base, outcome);
    if (result !== undefined) return result;
  }
  throw conflict(target.definition, target.name, modifiedMessage);
}

type Begun =
  | { readonly result: StorageResult; readonly suspended?: undefined }
  | { readonly result?: undefined; readonly suspended: Suspended };

async function begin(
  { storage }: RegistryContext,
  { key, dryRun }: WriteTarget,
  decide: WaitingDecision,
): Promise<Begun> {
  let suspended: Suspended | undefined;
  const run = (current: UnstructuredObject | undefined): Outcome => {
    const steps = decide(current);
    const first = steps.next();
    if (first.done === true) return first.value;
    // Somebody handles the rejection in `resume`, but not before the storage has answered.
    first.value.catch(() => {});
    suspended = { steps, base: current, wait: first.value };
    return "keep";
  };
  const result = dryRun ? pretend(storage.get(key), run) : await storage.write(key, run);
  // The callback has run; TypeScript cannot see that it set the variable.
  const waiting = suspended as Suspended | undefined;
  return waiting === undefined ? { result } : { suspended: waiting };
}

function pretend(
  current: UnstructuredObject | undefined,
  run: (current: UnstructuredObject | undefined) => Outcome,
): StorageResult {
  return resultOf(current, run(current));
}

function resultOf(current: UnstructuredObject | undefined, outcome: Outcome): StorageResult {
  if (outcome === "keep" || outcome === "delete") return { object: current, changed: outcome === "delete" };
  return { object: outcome, changed: true };
}

/** Runs suspended steps to their end. */
async function resume({ steps, wait }: Suspended): Promise<Outcome> {
  let next: IteratorResult<Promise<void>, Outcome> = { done: false, value: wait };
  while (next.done !== true) {
    next = await settle(steps, next.value);
  }
  return next.value;
}

async function settle(steps: Waits<Outcome>, wait: Promise<void>): Promise<IteratorResult<Promise<void>, Outcome>> {
  try {
    await wait;
  } catch (error) {
    return steps.throw(error);
  }
  return steps.next();
}

/** Stores the outcome if the key has not moved and the outcome still holds; otherwise undefined. */
async function finish(
  { storage }: RegistryContext,
  { key, dryRun, holds }: WriteTarget,
  base: UnstructuredObject | undefined,
  outcome: Outcome,
): Promise<StorageResult | undefined> {
  if (dryRun) return resultOf(base, outcome);
  let isMoved = false;
  const result = await storage.write(key, (current) => {
    isMoved = current?.metadata.resourceVersion !== base?.metadata.resourceVersion;
    if (typeof outcome === "object" && holds !== undefined) isMoved ||= !holds(outcome);
    return isMoved ? "keep" : outcome;
  });
  return isMoved ? undefined : result;
}
