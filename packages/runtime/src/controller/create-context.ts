/** Makes the context of one run. */
import {
  apiVersionOf,
  isAlreadyExists,
  isConflict,
  isNotFound,
  SetpointError,
  type KubeObject,
  type OwnerReference,
} from "@setpoint/apimachinery";
import { isOutcomeUnknown, type Client, type KindRef, type Stored } from "@setpoint/client";
import type { Host, Logger } from "@setpoint/host";
import { controllerOf } from "../cache/store.ts";
import { errNotOwned, TerminalError } from "../errors.ts";
import type { EventRecorder } from "../events/event-recorder.ts";
import { appliedAnnotation, withAppliedMark } from "../objects/applied-mark.ts";
import { covers } from "../objects/covers.ts";
import { matches, type ControllerCache } from "./controller-cache.ts";
import type { ControllerDefinition } from "./controller-definition.ts";
import type { OwnWrites } from "./own-writes.ts";
import { hasConditions } from "./has-conditions.ts";
import type { DeleteOptions, ReconcileContext } from "./reconcile-context.ts";
import type { ReconcileMemory } from "./reconcile-memory.ts";
import { awaitChange, requeueAfter } from "./result.ts";
import { StatusWriter } from "./status-writer.ts";

/** What a run is given by its controller. */
export interface RunPorts {
  readonly definition: ControllerDefinition;
  readonly client: Client;
  readonly host: Host;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly cache: ControllerCache;
  readonly writes: OwnWrites;
  readonly memory: ReconcileMemory;
  readonly events: EventRecorder;
}

export interface Run {
  readonly context: ReconcileContext;
  /** Writes what is still to be written of the status. */
  flush(): Promise<void>;
}

export function createRun(object: Stored<KubeObject>, ports: RunPorts): Run {
  const { definition, client, host, log, signal, cache, writes, memory, events } = ports;
  const { fieldManager } = definition;
  const parent = object.metadata;

  const namespaceFor = (kind: KindRef, namespace: string | undefined): string | undefined =>
    kind.namespaced ? (namespace ?? parent.namespace) : undefined;

  const get = <T extends KubeObject>(kind: KindRef<T>, name: string, namespace?: string): Stored<T> | undefined => {
    const place = namespaceFor(kind, namespace);
    // Objects of a kind have the type of the kind.
    return writes.overlay(kind, { name, namespace: place }, cache.get(kind, name, place)) as Stored<T> | undefined;
  };

  /** Sends a write and notes for reads and barrier what became of it. */
  const track = async <T extends KubeObject>(
    kind: KindRef,
    target: KubeObject,
    send: () => Promise<Stored<T>>,
  ): Promise<Stored<T>> => {
    try {
      const written = await send();
      writes.written(kind, written);
      return written;
    } catch (error) {
      if (isOutcomeUnknown(error)) writes.unknown(kind, target);
      throw error;
    }
  };

  const place = <T extends KubeObject>(kind: KindRef, child: T, isOwned: boolean): T => {
    const namespace = namespaceFor(kind, child.metadata.namespace);
    const references = isOwned
      ? [...(child.metadata.ownerReferences ?? []), ownerReference(definition.kind, object, kind)]
      : child.metadata.ownerReferences;
    const metadata = {
      ...child.metadata,
      ...(namespace === undefined ? {} : { namespace }),
      ...(references === undefined ? {} : { ownerReferences: references }),
    };
    return { ...child, metadata };
  };

  const apply = async <T extends KubeObject>(
    child: T,
    options: { readonly owner?: boolean; readonly force?: boolean } = {},
  ): Promise<Stored<T>> => {
    const { kind } = cache.ofObject(child);
    const isOwned = options.owner ?? true;
    const wanted = withAppliedMark(place(kind, child, isOwned), fieldManager);
    const present = get(kind, nameOf(wanted), wanted.metadata.namespace);
    if (present !== undefined && isOwned) assertOurs(present, parent.uid);
    const what = `${kind.plural}/${wanted.metadata.namespace ?? ""}/${nameOf(wanted)}`;
    const mark = wanted.metadata.annotations?.[appliedAnnotation] ?? "";
    // The cache shows every field as wanted, or the server has shown before that it takes the two for the same.
    if (
      present !== undefined &&
      (covers(present, wanted) || memory.isKnownNoop(parent.uid, what, mark, contentOf(present)))
    )
      return present as Stored<T>;
    const written = await track(kind, wanted, () =>
      client.apply<T>(kind as KindRef<T>, wanted, { fieldManager, force: options.force ?? true, signal }),
    );
    memory.remember(parent.uid, what, mark, contentOf(written));
    return written;
  };

  const create = async <T extends KubeObject>(
    child: T,
    options: { readonly owner?: boolean } = {},
  ): Promise<Stored<T>> => {
    const { kind } = cache.ofObject(child);
    const isOwned = options.owner ?? true;
    const wanted = place(kind, child, isOwned);
    try {
      return await track(kind, wanted, () => client.create<T>(kind as KindRef<T>, wanted, { fieldManager, signal }));
    } catch (error) {
      if (!isAlreadyExists(error) || !isOwned) throw error;
      const present = await fresh(kind as KindRef<T>, nameOf(wanted), wanted.metadata.namespace);
      if (present === undefined || controllerOf(present)?.uid !== parent.uid) throw error;
      writes.written(kind, present);
      return present;
    }
  };

  const fresh = async <T extends KubeObject>(
    kind: KindRef<T>,
    name: string,
    namespace?: string,
  ): Promise<Stored<T> | undefined> => {
    const at = namespaceFor(kind, namespace);
    try {
      return await client.get(kind, at === undefined ? { name } : { name, namespace: at }, { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };

  const patch = async <T extends KubeObject>(
    target: T,
    change: unknown,
    options: { readonly unchanged?: boolean } = {},
  ): Promise<Stored<T>> => {
    const { kind } = cache.ofObject(target);
    const { uid, resourceVersion } = target.metadata;
    const fields = change as { readonly metadata?: object };
    const metadata = { ...fields.metadata, uid, ...(options.unchanged === true ? { resourceVersion } : {}) };
    return track(kind, target, () =>
      client.patch<T>(kind as KindRef<T>, keyOf(target), { ...fields, metadata }, { fieldManager, signal }),
    );
  };

  const remove = async (target: KubeObject, options: DeleteOptions = {}): Promise<void> => {
    const { kind } = cache.ofObject(target);
    const { uid, resourceVersion } = target.metadata;
    const preconditions = {
      ...(uid === undefined ? {} : { uid }),
      ...(options.unchanged === true && resourceVersion !== undefined ? { resourceVersion } : {}),
    };
    const { gracePeriodSeconds, propagation } = options;
    try {
      const answer = await client.delete(kind, keyOf(target), {
        preconditions,
        ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
        ...(propagation === undefined ? {} : { propagationPolicy: propagation }),
        signal,
      });
      if (isMarkedOnly(answer)) writes.written(kind, answer);
      else writes.deleted(kind, target);
    } catch (error) {
      // Without a resourceVersion a conflict can only mean that this UID is gone.
      const isGone = isNotFound(error) || (isConflict(error) && options.unchanged !== true);
      if (isOutcomeUnknown(error)) writes.unknown(kind, target);
      if (!isGone) throw error;
      writes.deleted(kind, target);
    }
  };

  const current = (): Stored<KubeObject> => get(definition.kind, parent.name, parent.namespace) ?? object;
  const status = new StatusWriter({
    kind: definition.kind,
    fieldManager,
    client,
    clock: host.clock,
    log,
    signal,
    memory,
    // A namesake that came meanwhile is not the object of this run.
    current: () => (current().metadata.uid === parent.uid ? current() : object),
    write: (send) => track(definition.kind, object, send),
  });

  const context: ReconcileContext = {
    signal,
    log,
    clock: host.clock,
    random: host.random,
    fieldManager,
    client,
    get,
    list: <T extends KubeObject>(kind: KindRef<T>, options = {}) =>
      writes.overlayList(kind, cache.list(kind, options), (each) => matches(each, options)) as readonly Stored<T>[],
    owned: <T extends KubeObject>(kind: KindRef<T>) =>
      writes.overlayList(
        kind,
        cache.ownedBy(kind, parent.uid),
        (each) => controllerOf(each)?.uid === parent.uid,
      ) as readonly Stored<T>[],
    fresh,
    apply,
    create,
    patch,
    delete: remove,
    status: (wanted) => status.replace(wanted),
    condition: (condition) => {
      if (!hasConditions(definition.kind)) throw withoutConditions(definition.kind);
      status.condition(condition);
    },
    event: (type, reason, message) => events.record(object, definition.name, { type, reason, message }),
    awaitChange,
    requeueAfter,
  };
  return { context, flush: () => status.flush() };
}

/** The server would answer a 500 that names neither the kind's file nor the mistake. */
function withoutConditions(kind: KindRef): TerminalError {
  return new TerminalError(
    `Cannot set a condition of ${kind.kind}: its status has no field "conditions"; add \`conditions: conditions()\` to it`,
  );
}

function ownerReference(kind: KindRef, owner: Stored<KubeObject>, childKind: KindRef): OwnerReference {
  if (kind.namespaced && !childKind.namespaced) {
    const message = `Cannot own ${childKind.kind} by ${kind.kind} "${owner.metadata.name}": the owner of an object without a namespace must have none; pass \`owner: false\` and delete it in \`cleanup\``;
    throw new SetpointError(errNotOwned, message);
  }
  const { name, uid } = owner.metadata;
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** Applying over somebody else's object would take it over, and with the owner it would go. */
function assertOurs(present: Stored<KubeObject>, uid: string): void {
  const owner = controllerOf(present);
  if (owner?.uid === uid) return;
  const whose = owner === undefined ? "it has no owner" : `it belongs to ${owner.kind} "${owner.name}" (${owner.uid})`;
  throw new SetpointError(
    errNotOwned,
    `Cannot apply ${present.kind} "${present.metadata.name}": it exists already and ${whose}`,
  );
}

/** What of an object counts for "nothing has changed": all but what changes by itself. */
function contentOf(object: KubeObject): string {
  const { resourceVersion: _rv, managedFields: _mf, generation: _g, ...metadata } = object.metadata;
  return JSON.stringify({ ...object, metadata, status: undefined });
}

function nameOf(object: KubeObject): string {
  const { name } = object.metadata;
  if (name !== undefined) return name;
  throw new SetpointError("ERR_NAME_MISSING", `Cannot apply ${object.kind}: it has no metadata.name`);
}

function keyOf(object: KubeObject): { readonly name: string; readonly namespace?: string } {
  const { namespace } = object.metadata;
  return namespace === undefined ? { name: nameOf(object) } : { name: nameOf(object), namespace };
}

/** Whether a deletion answered the object, still there with its mark, instead of a Status. */
function isMarkedOnly(answer: { readonly metadata?: object }): answer is Stored<KubeObject> {
  const { deletionTimestamp, resourceVersion } = (answer.metadata ?? {}) as KubeObject["metadata"];
  return deletionTimestamp !== undefined && resourceVersion !== undefined;
}
