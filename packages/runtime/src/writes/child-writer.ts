/**
 * The writes of one run, except for the status. Each has preconditions, and is noted for later reads and the
 * barrier.
 */
import {
  encodeJson,
  isAlreadyExists,
  isApiError,
  isConflict,
  isInvalid,
  isNotFound,
  type KubeObject,
} from "@setpoint/apimachinery";
import { isOutcomeUnknown, type KindRef, type Stored } from "@setpoint/client";
import { storeKey } from "../cache/store.ts";
import { appliedAnnotation, withAppliedMark } from "../objects/applied-mark.ts";
import { TemporaryError, TerminalError } from "../errors.ts";
import { covers } from "../objects/covers.ts";
import { withoutForeignItems } from "../objects/foreign-items.ts";
import { isOtherUid } from "./other-uid.ts";
import { assertOurs, keyOf, nameOf, namespaceOf, placed, type Parent } from "./place-child.ts";
import type { ApplyOptions, CreateOptions, DeleteOptions, PatchOptions } from "../controller/reconcile-context.ts";
import { assertSelected } from "../controller/owned-selection.ts";
import type { WritePorts } from "./write-ports.ts";
import type { RunReader } from "./run-reader.ts";
import type { PlannedWrite } from "./write-guard.ts";

/**
 * No object ever has this revision, and the server creates a missing object that is applied with it. So one
 * request means "create, never update", even when the cache lags.
 */
const absentResourceVersion = "1";

/** How soon to retry a run whose object is gone. */
const ownerGoneRetryMs = 5_000;

/** A write on its way. */
type Write<T extends KubeObject> = PlannedWrite & { readonly send: () => Promise<Stored<T>> };

export class ChildWriter {
  readonly #parent: Parent;
  readonly #ports: WritePorts;
  readonly #reader: RunReader;
  /** Refusals by the server of this run's writes. Other API errors do not count. */
  readonly refusals: WeakSet<object> = new WeakSet();
  /** The kinds of which earlier runs have written children, as of the first call. */
  #earlier: ReadonlySet<string> | undefined;
  #parentLives: Promise<void> | undefined;

  constructor(parent: Parent, ports: WritePorts, reader: RunReader) {
    this.#parent = parent;
    this.#ports = ports;
    this.#reader = reader;
  }

  async apply<T extends KubeObject>(child: T, options: ApplyOptions = {}): Promise<Stored<T>> {
    const { cache, memory, definition } = this.#ports;
    // A kind's objects have the type of the kind.
    const kind = cache.ofObject(child).kind as KindRef<T>;
    const isOwned = options.owner ?? true;
    assertSelected(definition.name, definition.ownedSelections, kind, child);
    const wanted = withAppliedMark(placed(kind, child, isOwned, this.#parent), definition.fieldManager);
    const present = this.#reader.get(kind, nameOf(wanted), wanted.metadata.namespace);
    if (present !== undefined && isOwned) assertOurs("apply", present, this.#parent);
    const what = placeOf(kind, wanted);
    if (present === undefined && isOwned) await this.#assertParentLives(kind);
    const mark = wanted.metadata.annotations?.[appliedAnnotation] ?? "";
    // The cache shows every field as desired, or the server has shown before that it treats the two as equal.
    if (
      present !== undefined &&
      (covers(present, wanted) ||
        memory.isKnownNoop(
          what,
          () => mark,
          () => contentOf(present),
        ))
    )
      return present;
    const written = await this.#send(kind, wanted, present, isOwned, options);
    // Fields that the server kept as sent can be compared. Only the fields that it changed must be
    // remembered.
    if (covers(written, wanted)) memory.rememberKind(kind.plural);
    else memory.remember(what, mark, contentOf(written));
    return written;
  }

  /** Only our own object may be created or changed, also when the cache does not show its current state. */
  async #send<T extends KubeObject>(
    kind: KindRef<T>,
    wanted: T,
    present: Stored<T> | undefined,
    isOwned: boolean,
    options: ApplyOptions,
  ): Promise<Stored<T>> {
    // This request cannot say "create, never update", so it counts as a change.
    if (!isOwned) return this.#apply(kind, wanted, false, options);
    try {
      return await this.#apply(kind, onlyIf(wanted, present), present === undefined, options);
    } catch (error) {
      if (isInvalid(error) && !isOtherUid(error)) return this.#applyAlone(kind, wanted, present, options, error);
      if (!isConflict(error) && !isOtherUid(error)) throw error;
      const now = await this.#reader.fresh(kind, nameOf(wanted), wanted.metadata.namespace);
      // Neither object has changed: the conflict is one over fields.
      if (now?.metadata.uid === present?.metadata.uid) throw error;
      if (now !== undefined) assertOurs("apply", now, this.#parent);
      return this.#apply(kind, onlyIf(wanted, now), now === undefined, options);
    }
  }

  /**
   * An apply keeps the list items of other managers. When another manager has changed the number of our port,
   * that port is such an item. The server then refuses ours, because both have the same name. So this first
   * replaces the lists that have other items, and then applies.
   */
  async #applyAlone<T extends KubeObject>(
    kind: KindRef<T>,
    wanted: T,
    present: Stored<T> | undefined,
    options: ApplyOptions,
    refusal: unknown,
  ): Promise<Stored<T>> {
    const { client, definition, signal } = this.#ports;
    const lists = present === undefined || options.force === false ? undefined : withoutForeignItems(present, wanted);
    if (present === undefined || lists === undefined) throw refusal;
    const { uid, resourceVersion } = present.metadata;
    const body = { ...lists, metadata: { uid, resourceVersion } };
    const send = (): Promise<Stored<T>> =>
      client.patch<T>(kind, keyOf(present), body, { fieldManager: definition.fieldManager, signal });
    const alone = await this.#track({
      verb: "patch",
      kind,
      object: present,
      isNew: false,
      parent: this.#parent.object,
      send,
    });
    return this.#apply(kind, onlyIf(wanted, alone), false, options);
  }

  #apply<T extends KubeObject>(
    kind: KindRef<T>,
    object: T,
    isNew: boolean,
    { force = true }: ApplyOptions,
  ): Promise<Stored<T>> {
    const { client, definition, signal } = this.#ports;
    const send = (): Promise<Stored<T>> =>
      client.apply<T>(kind, object, { fieldManager: definition.fieldManager, force, signal });
    return this.#track({ verb: "apply", kind, object, isNew, parent: this.#parent.object, send });
  }

  async create<T extends KubeObject>(child: T, { owner = true }: CreateOptions = {}): Promise<Stored<T>> {
    const { cache, client, definition, signal, writes } = this.#ports;
    const kind = cache.ofObject(child).kind as KindRef<T>;
    requireName(child);
    assertSelected(definition.name, definition.ownedSelections, kind, child);
    const object = placed(kind, child, owner, this.#parent);
    const send = (): Promise<Stored<T>> =>
      client.create<T>(kind, object, { fieldManager: definition.fieldManager, signal });
    try {
      if (owner) await this.#assertParentLives(kind);
      const written = await this.#track({
        verb: "create",
        kind,
        object,
        isNew: true,
        parent: this.#parent.object,
        send,
      });
      this.#ports.memory.rememberKind(kind.plural);
      return written;
    } catch (error) {
      if (!isAlreadyExists(error) || !owner) throw error;
      const present = await this.#reader.fresh(kind, nameOf(object), object.metadata.namespace);
      if (present === undefined) throw error;
      assertOurs("create", present, this.#parent);
      writes.written(kind, present);
      return present;
    }
  }

  /**
   * Throws when the parent is gone while the cache still shows it. Children of an earlier run may be missing
   * because the garbage collector deleted them with their owner. It would delete each new child at once, and
   * both would loop. Asks the server once a run, and never in the run that creates the first children.
   */
  #assertParentLives(childKind: KindRef): Promise<void> {
    if (this.#earlier === undefined) this.#earlier = this.#ports.memory.kinds();
    if (!this.#earlier.has(childKind.plural)) return Promise.resolve();
    this.#parentLives ??= this.#askForParent();
    return this.#parentLives;
  }

  /** The server has just returned the parent, so this run need not ask whether it exists. */
  metParent(): void {
    this.#parentLives = Promise.resolve();
  }

  async #askForParent(): Promise<void> {
    const { kind, object } = this.#parent;
    const { name, namespace, uid } = object.metadata;
    const present = await this.#reader.fresh(kind, name, namespace);
    if (present?.metadata.uid === uid) return;
    throw new TemporaryError(
      `Cannot make children of ${kind.kind} "${name}": it is deleted on the server, and the cache still has it`,
      ownerGoneRetryMs,
    );
  }

  async patch<T extends KubeObject>(
    target: T,
    change: unknown,
    { unchanged = false, once = false }: PatchOptions = {},
  ): Promise<Stored<T>> {
    const { cache, client, definition, signal } = this.#ports;
    const kind = cache.ofObject(target).kind as KindRef<T>;
    const meant = (await this.#identified(kind, target)) ?? this.#located(kind, target);
    const { uid, resourceVersion } = meant.metadata;
    const fields = change as { readonly metadata?: object };
    const metadata = { ...fields.metadata, uid, ...(unchanged ? { resourceVersion } : {}) };
    const send = (): Promise<Stored<T>> =>
      client.patch<T>(
        kind,
        keyOf(meant),
        { ...fields, metadata },
        { fieldManager: definition.fieldManager, signal, once },
      );
    return this.#track({ verb: "patch", kind, object: meant, isNew: false, parent: this.#parent.object, send });
  }

  async delete(
    named: KubeObject,
    { unchanged = false, once = false, gracePeriodSeconds, propagation }: DeleteOptions = {},
  ): Promise<void> {
    const { cache, client, signal, writes } = this.#ports;
    const { kind } = cache.ofObject(named);
    const target = await this.#identified(kind, named);
    if (target === undefined) return;
    const { uid, resourceVersion } = target.metadata;
    const preconditions = { uid, ...(unchanged ? { resourceVersion } : {}) };
    this.#ports.guard?.check({ verb: "delete", kind, object: target, isNew: false, parent: this.#parent.object });
    try {
      const answer = await client.delete(kind, keyOf(target), {
        preconditions,
        ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
        ...(propagation === undefined ? {} : { propagationPolicy: propagation }),
        signal,
        once,
      });
      this.#forget(kind, target);
      if (isMarkedOnly(answer)) writes.written(kind, answer);
      else writes.deleted(kind, target);
    } catch (error) {
      // Without a resourceVersion a conflict can only mean that this UID is gone.
      const isGone = isNotFound(error) || (isConflict(error) && !unchanged);
      if (!isGone) throw this.#noted(error, kind, target);
      this.#forget(kind, target);
      writes.deleted(kind, target);
    }
  }

  /**
   * The object of a write with its UID, so that the write never hits a newer object of the same name. For an
   * object that the author has only named, the UID comes from the cache, or else from the server. Undefined
   * when there is none.
   */
  async #identified<T extends KubeObject>(kind: KindRef<T>, target: T): Promise<Stored<T> | undefined> {
    if (isRead(target)) return target;
    const { namespace } = target.metadata;
    const name = nameOf(target);
    return this.#reader.get<T>(kind, name, namespace) ?? (await this.#reader.fresh<T>(kind, name, namespace));
  }

  /** A missing object is missing in its own namespace, whatever another namespace has under its name. */
  #located<T extends KubeObject>(kind: KindRef<T>, target: T): T {
    const namespace = namespaceOf(kind, target.metadata.namespace, this.#parent);
    return namespace === undefined ? target : { ...target, metadata: { ...target.metadata, namespace } };
  }

  #forget(kind: KindRef, target: KubeObject): void {
    this.#ports.memory.drop(placeOf(kind, target));
  }

  /** Sends a write and notes its outcome. */
  async #track<T extends KubeObject>({ send, ...write }: Write<T>): Promise<Stored<T>> {
    this.#ports.guard?.check(write);
    try {
      const written = await send();
      this.#ports.guard?.written(write);
      this.#ports.writes.written(write.kind, written);
      return written;
    } catch (error) {
      throw this.#noted(error, write.kind, write.object);
    }
  }

  #noted(error: unknown, kind: KindRef, object: KubeObject): unknown {
    if (isOutcomeUnknown(error)) this.#ports.writes.unknown(kind, object);
    if (isApiError(error)) this.refusals.add(error);
    return error;
  }
}

/** The key that identifies a child of one owner. */
function placeOf(kind: KindRef, object: KubeObject): string {
  return `${kind.plural}/${storeKey(object.metadata)}`;
}

/** Only the server assigns UIDs. */
function isRead<T extends KubeObject>(object: T): object is Stored<T> {
  return object.metadata.uid !== undefined;
}

/**
 * With a name that the server generates, a write whose answer was lost cannot be found: a retry would create
 * a second object.
 */
function requireName({ kind, metadata }: KubeObject): void {
  if (metadata.name !== undefined) return;
  throw new TerminalError(
    `Cannot create ${kind} "${metadata.generateName ?? ""}*": after a lost response nothing shows whether it was created; give it a name, for instance with randomSuffix(random, 5)`,
  );
}

/** Holds only for what is there: this very object, or none. */
function onlyIf<T extends KubeObject>(wanted: T, present: Stored<T> | undefined): T {
  const condition = present === undefined ? { resourceVersion: absentResourceVersion } : { uid: present.metadata.uid };
  return { ...wanted, metadata: { ...wanted.metadata, ...condition } };
}

/** What of an object counts for "nothing has changed": all but what changes by itself. */
function contentOf(object: KubeObject): string {
  // An object of a list has its type at the end, where the cache has added it.
  const { apiVersion: _a, kind: _k, ...content } = object;
  const { resourceVersion: _rv, managedFields: _mf, generation: _g, ...metadata } = object.metadata;
  return encodeJson({ ...content, metadata, status: undefined });
}

/** Whether a deletion answered the object, still there with its mark, instead of a Status. */
function isMarkedOnly(answer: { readonly metadata?: object }): answer is Stored<KubeObject> {
  // Of a Status nothing is asked but what its metadata does not have.
  return (answer as Partial<KubeObject>).metadata?.deletionTimestamp !== undefined;
}
