/**
 * Takes an operator's finalizers from the objects that have them, when the operator goes for good: nobody
 * else ever would.
 */
import { Lease } from "@setpoint/api";
import { isConflict, isNotFound, SetpointError, type KubeObject } from "@setpoint/apimachinery";
import type { Client, KindRef, Stored } from "@setpoint/client";
import type { Clock } from "@setpoint/host";
import type { Operator } from "./operator.ts";

/**
 * What the Leases of an operator's replicas carry when they share the keys; its value is the operator's name.
 */
const groupLabel = "setpoint.dev/shards";

/** An operator runs that must not. */
export const errOperatorRunning = "ERR_OPERATOR_RUNNING";

/** An object that cannot go because of finalizers of the operator. */
export interface HeldObject {
  readonly kind: KindRef;
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  /** The operator's finalizers; those of others stay. */
  readonly finalizers: readonly string[];
  /** Whether it is being deleted: without the finalizers it goes at once. */
  readonly isDeleting: boolean;
}

/** The objects that an operator's finalizers hold, and what removing them means. */
export interface FinalizerPlan {
  readonly operator: string;
  readonly held: readonly HeldObject[];
  /** What will happen, one sentence an object. */
  readonly sentences: readonly string[];
}

/** What `planFinalizerRemoval` needs: a client, and where the operator's Leases are. */
export interface PlanOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** Where the operator keeps its leases: it must not run. Absent: the caller knows that it does not. */
  readonly leaseNamespace?: string;
}

/**
 * Finds every object that the operator's finalizers hold. Errors: `ERR_OPERATOR_RUNNING` while its lease is
 * held, or that of one of its replicas, because they would put them back.
 */
export async function planFinalizerRemoval(operator: Operator, options: PlanOptions): Promise<FinalizerPlan> {
  if (options.leaseNamespace !== undefined) await requireStopped(operator, options.leaseNamespace, options);
  const held: HeldObject[] = [];
  for (const [kind, finalizers] of finalizersByKind(operator)) {
    for (const object of await listOf(kind, options.client)) {
      const ours = object.metadata.finalizers?.filter((each) => finalizers.has(each)) ?? [];
      if (ours.length > 0) held.push(heldObject(kind, object, ours));
    }
  }
  return { operator: operator.name, held, sentences: held.map(sentenceOf) };
}

/** How often the removal is retried after a conflict with another client. */
const attemptsMax = 5;

/**
 * Carries out a plan. Guarantees: takes away nothing but the finalizers of the plan, and only from the very
 * objects of the plan; a second call does no harm. Answers how many objects were freed.
 */
export async function removeFinalizers(plan: FinalizerPlan, client: Client): Promise<number> {
  let freed = 0;
  for (const held of plan.held) if (await free(held, client)) freed++;
  return freed;
}

async function free(held: HeldObject, client: Client): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      const { metadata } = await client.get(held.kind, keyOf(held));
      const finalizers = metadata.finalizers ?? [];
      const others = finalizers.filter((each) => !held.finalizers.includes(each));
      if (metadata.uid !== held.uid || others.length === finalizers.length) return false;
      const { uid, resourceVersion } = metadata;
      await client.patch(held.kind, keyOf(held), { metadata: { uid, resourceVersion, finalizers: others } });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      if (!isConflict(error) || attempt >= attemptsMax) throw error;
    }
  }
}

function finalizersByKind({ controllers }: Operator): ReadonlyMap<KindRef, ReadonlySet<string>> {
  const byKind = new Map<KindRef, Set<string>>();
  // Also of controllers that have no cleanup now: an earlier version may have had one.
  for (const { kind, finalizer } of controllers) byKind.set(kind, (byKind.get(kind) ?? new Set()).add(finalizer));
  return byKind;
}

async function listOf(kind: KindRef, client: Client): Promise<readonly Stored<KubeObject>[]> {
  try {
    return (await client.listAll(kind)).items;
  } catch (error) {
    // The kind is gone, and its objects with it.
    if (isNotFound(error)) return [];
    throw error;
  }
}

function heldObject(kind: KindRef, { metadata }: Stored<KubeObject>, finalizers: readonly string[]): HeldObject {
  const { name, namespace, uid, deletionTimestamp } = metadata;
  return {
    kind,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    uid,
    finalizers,
    isDeleting: deletionTimestamp !== undefined,
  };
}

function sentenceOf({ kind, name, namespace, isDeleting }: HeldObject): string {
  const what = `${kind.kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
  return isDeleting
    ? `${what} is being deleted and goes at once, without its cleanup`
    : `${what} stays; nobody cleans up after it when it is deleted`;
}

function keyOf({ name, namespace }: HeldObject): { readonly name: string; readonly namespace?: string } {
  return namespace === undefined ? { name } : { name, namespace };
}

async function requireStopped({ name }: Operator, namespace: string, { client, clock }: PlanOptions): Promise<void> {
  const running = (await leasesOf(name, namespace, client)).find((lease) => isHeld(lease, clock));
  if (running === undefined) return;
  throw new SetpointError(
    errOperatorRunning,
    `Cannot remove the finalizers of operator "${name}": "${running.spec.holderIdentity ?? ""}" runs it and would put them back; stop it first`,
  );
}

/**
 * The Lease of the one that leads, and those of the members where all replicas work: the group's own Lease is
 * nobody's.
 */
async function leasesOf(name: string, namespace: string, client: Client): Promise<readonly Lease[]> {
  const labelSelector = `${groupLabel}=${name}`;
  const { items } = await client.listAll(Lease, { namespace, labelSelector });
  try {
    return [await client.get(Lease, { name, namespace }), ...items];
  } catch (error) {
    if (isNotFound(error)) return items;
    throw error;
  }
}

function isHeld({ spec }: Lease, clock: Clock): boolean {
  const { holderIdentity = "", renewTime, leaseDurationSeconds = 0 } = spec;
  if (holderIdentity === "" || renewTime === undefined) return false;
  return Date.parse(renewTime) + leaseDurationSeconds * 1_000 >= clock.now();
}
