/**
 * The one implementation of `Storage`; durability is a parameter. Without a journal a write is visible and
 * acknowledged at once. With one, writes are decided at the head, all writes of one turn are committed
 * together (one sync of the disk for many writers), and only then shown and acknowledged.
 */
import {
  ApiError,
  copyObject,
  deepFreeze,
  failure,
  messageOf,
  type ObjectMeta,
  SetpointError,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import type { Clock, Logger } from "@setpoint/host";
import { heapBytesOf } from "./heap-bytes.ts";
import type { Journal, JournalEntry } from "./journal.ts";
import { defaultHistoryLimits, type HistoryLimits } from "./limits.ts";
import { byPrefix } from "./prefix-contents.ts";
import { guarded, PrefixState } from "./prefix-state.ts";
import { StoredBytes } from "./stored-bytes.ts";
import type {
  Storage,
  StorageContents,
  StorageDecision,
  StorageEvent,
  StorageKey,
  StorageResult,
  StorageSnapshot,
  StorageUse,
} from "./storage.ts";

export interface MvccStorageOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly journal?: Journal;
  readonly limits?: Partial<HistoryLimits>;
  /** What it holds at first, without history; only without a journal, which has contents of its own. */
  readonly contents?: StorageContents;
}

/** A write or refusal that waits for the commit of its turn. */
interface PendingWrite {
  readonly prefix: string;
  readonly state: PrefixState;
  /** Absent when nothing is written, but the answer rests on a write that is not durable yet. */
  readonly event?: StorageEvent;
  readonly entry?: JournalEntry;
  settle(): void;
  reject(error: unknown): void;
}

interface HistoryEntry {
  readonly state: PrefixState;
  readonly revision: number;
  readonly atMs: number;
  readonly bytes: number;
}

export class MvccStorage implements Storage {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #journal: Journal | undefined;
  readonly #limits: HistoryLimits;
  readonly #prefixes = new Map<string, PrefixState>();
  readonly #progress = new Set<(revision: number) => void>();
  /** Absent when the limits count no bytes. */
  readonly #stored: StoredBytes | undefined;
  #history: HistoryEntry[] = [];
  #historyBytes = 0;
  #firstHistory = 0;
  #pending: PendingWrite[] = [];
  #revision: number;
  #headRevision: number;
  #compactedRevision: number;
  #closed = false;
  #writeFailure: unknown;

  constructor(options: MvccStorageOptions) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#journal = options.journal;
    this.#writeFailure = options.journal?.refusal;
    this.#limits = { ...defaultHistoryLimits, ...options.limits };
    const { historyBytesMax, storedBytesMax } = this.#limits;
    const counts = Math.min(historyBytesMax, storedBytesMax) < Infinity;
    this.#stored = counts ? new StoredBytes(storedBytesMax) : undefined;
    for (const { prefix, path, object } of options.journal?.entries ?? []) {
      if (object === undefined) continue;
      this.#prefix(prefix).load(path, deepFreeze(object));
      this.#stored?.put({ prefix, path }, heapBytesOf(object));
    }
    if (options.contents !== undefined)
      for (const [prefix, held] of byPrefix(options.contents)) this.#prefixes.set(prefix, new PrefixState(held));
    // Revision 0 means "any" in the API, so an empty store starts at 1.
    this.#revision = Math.max(1, options.journal?.revision ?? options.contents?.revision ?? 1);
    this.#headRevision = this.#revision;
    this.#compactedRevision = this.#revision - 1;
  }

  get revision(): number {
    return this.#revision;
  }

  get compactedRevision(): number {
    return this.#compactedRevision;
  }

  get writeFailure(): unknown {
    return this.#writeFailure;
  }

  use(): StorageUse {
    return { storedBytes: this.#stored?.total ?? 0, historyBytes: this.#historyBytes };
  }

  /** Everything that it holds now. The objects are shared and frozen. */
  contents(): StorageContents {
    const entries = [...this.#prefixes].flatMap(([prefix, state]) =>
      state.entries().map(([path, object]) => ({ prefix, path, object })),
    );
    return { revision: this.#revision, entries };
  }

  get(key: StorageKey): UnstructuredObject | undefined {
    return this.#prefixes.get(key.prefix)?.get(key.path);
  }

  head(key: StorageKey): UnstructuredObject | undefined {
    return this.#prefixes.get(key.prefix)?.atHead(key.path);
  }

  list(prefix: string, options?: { readonly pathPrefix?: string; readonly revision?: number }): StorageSnapshot {
    const revision = options?.revision ?? this.#revision;
    this.#refuseCompacted(revision);
    const state = this.#prefixes.get(prefix);
    const pathPrefix = options?.pathPrefix ?? "";
    if (state === undefined) return { revision, objects: [] };
    const objects = revision >= this.#revision ? state.list(pathPrefix) : state.listAt(pathPrefix, revision);
    return { revision, objects };
  }

  decided(prefix: string): readonly UnstructuredObject[] {
    return [...(this.#prefixes.get(prefix)?.head.values() ?? [])].filter((object) => object !== undefined);
  }

  write(key: StorageKey, decide: StorageDecision): Promise<StorageResult> {
    if (this.#closed)
      return Promise.reject(new SetpointError("ERR_STORAGE_CLOSED", "Cannot write: the storage is closed"));
    const state = this.#prefix(key.prefix);
    const isSettled = !state.head.has(key.path);
    const current = state.atHead(key.path);
    let decision: UnstructuredObject | "delete" | "keep";
    let bytes: number | undefined;
    try {
      decision = decide(current);
      bytes = typeof decision === "object" ? this.#stored?.admit(key, decision) : this.#stored?.sizeOf(key);
    } catch (error) {
      return isSettled ? Promise.reject(error) : this.#afterCommit(key, state, undefined, () => Promise.reject(error));
    }
    if (decision === "keep" || (decision === "delete" && current === undefined)) {
      const result = { object: current, changed: false };
      return isSettled
        ? Promise.resolve(result)
        : this.#afterCommit(key, state, undefined, () => Promise.resolve(result));
    }
    const event = this.#eventOf(key.path, current, decision, bytes);
    const result = { object: event.object, changed: true };
    if (this.#journal === undefined) {
      this.#publish(key.prefix, state, event);
      return Promise.resolve(result);
    }
    state.head.set(key.path, event.kind === "put" ? event.object : undefined);
    const object = event.kind === "put" ? event.object : undefined;
    const isNew = current === undefined;
    const entry = { prefix: key.prefix, path: key.path, revision: event.revision, object, isNew };
    return this.#afterCommit(key, state, { event, entry }, () => Promise.resolve(result));
  }

  watch(
    prefix: string,
    afterRevision: number,
    onEvent: (event: StorageEvent) => void,
    onProgress?: (revision: number) => void,
  ): { cancel(): void } {
    this.#refuseCompacted(afterRevision);
    const state = this.#prefix(prefix);
    for (const event of state.eventsAfter(afterRevision)) onEvent(event);
    const watcher = { onEvent };
    state.watchers.add(watcher);
    if (onProgress !== undefined) this.#progress.add(onProgress);
    const cancel = (): void => {
      state.watchers.delete(watcher);
      if (onProgress !== undefined) this.#progress.delete(onProgress);
    };
    return { cancel };
  }

  compact(revision: number): void {
    const limit = Math.min(revision, this.#revision - 1);
    if (limit <= this.#compactedRevision) return;
    // Being able to read at revision R needs the events after R, so those up to R + 1 may go when R cannot be
    // read.
    this.#dropHistory((entry) => entry.revision <= limit + 1);
    this.#compactedRevision = Math.max(this.#compactedRevision, limit);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#flush();
    this.#closed = true;
    this.#journal?.close();
  }

  #prefix(prefix: string): PrefixState {
    let state = this.#prefixes.get(prefix);
    if (state === undefined) {
      state = new PrefixState();
      this.#prefixes.set(prefix, state);
    }
    return state;
  }

  #refuseCompacted(revision: number): void {
    if (revision > this.#compactedRevision) return;
    const present = `the history starts after revision ${this.#compactedRevision}`;
    throw new SetpointError("ERR_COMPACTED", `Cannot read at revision ${revision}: ${present}`);
  }

  #eventOf(
    path: string,
    current: UnstructuredObject | undefined,
    decision: UnstructuredObject | "delete",
    bytes: number | undefined,
  ): StorageEvent {
    const revision = ++this.#headRevision;
    const kind = decision === "delete" ? "delete" : "put";
    const state = decision === "delete" ? (current ?? { apiVersion: "", kind: "", metadata: {} }) : decision;
    const object = stamped(state, revision);
    const event = { kind, revision, path, object, bytes } as const;
    return current === undefined ? event : { ...event, previous: current };
  }

  #afterCommit(
    { prefix }: StorageKey,
    state: PrefixState,
    write: { readonly event: StorageEvent; readonly entry: JournalEntry } | undefined,
    answer: () => Promise<StorageResult>,
  ): Promise<StorageResult> {
    const { promise, resolve, reject } = Promise.withResolvers<StorageResult>();
    if (this.#pending.length === 0) this.#clock.defer(() => this.#flush());
    this.#pending.push({ prefix, state, ...write, settle: () => resolve(answer()), reject });
    return promise;
  }

  #flush(): void {
    const group = this.#pending;
    if (group.length === 0) return;
    this.#pending = [];
    for (const { state } of group) state.head.clear();
    const entries = group.flatMap(({ entry }) => entry ?? []);
    try {
      if (entries.length > 0) {
        this.#journal?.commit(entries);
        this.#writeFailure = undefined;
      }
    } catch (cause) {
      this.#writeFailure = cause;
      this.#log.error("Refused writes because they could not be made durable", {
        writes: entries.length,
        error: cause,
      });
      for (const write of group) write.reject(notDurable(cause));
      return;
    }
    for (const { prefix, state, event } of group) if (event !== undefined) this.#publish(prefix, state, event);
    for (const write of group) write.settle();
  }

  #publish(prefix: string, state: PrefixState, event: StorageEvent): void {
    this.#revision = event.revision;
    const { bytes = 0 } = event;
    this.#history.push({ state, revision: event.revision, atMs: this.#clock.monotonic(), bytes });
    this.#historyBytes += bytes;
    if (event.kind === "put") this.#stored?.put({ prefix, path: event.path }, bytes);
    else this.#stored?.delete({ prefix, path: event.path });
    // The write is done: a watcher that throws must not keep it from the writer and from other watchers.
    const onFault = (error: unknown): void => this.#log.error("Watcher of the storage failed", { error });
    state.publish(event, onFault);
    for (const onProgress of this.#progress) guarded(() => onProgress(event.revision), onFault);
    const oldestMs = this.#clock.monotonic() - this.#limits.historyAgeMsMax;
    const first = this.#history[this.#firstHistory];
    const count = this.#history.length - this.#firstHistory;
    const { historyEventsMax, historyBytesMax } = this.#limits;
    if (this.#historyBytes > historyBytesMax) this.#trimBytes();
    if (count > historyEventsMax || (first !== undefined && first.atMs < oldestMs)) this.#trim(oldestMs);
  }

  /** Drops a sixteenth more than needed, so that trimming is rare. */
  #trim(oldestMs: number): void {
    const { historyEventsMax } = this.#limits;
    const keep = historyEventsMax - (historyEventsMax >>> 4);
    const surplus = this.#history.length - this.#firstHistory > historyEventsMax ? this.#history.length - keep : 0;
    const limit = this.#history[surplus]?.revision ?? 0;
    this.#dropHistory((entry) => entry.revision < limit || entry.atMs < oldestMs);
  }

  /** A sixteenth more than needed, too; the newest event stays whatever its size. */
  #trimBytes(): void {
    const { historyBytesMax } = this.#limits;
    const keep = historyBytesMax - historyBytesMax / 16;
    this.#dropHistory((entry) => this.#historyBytes > keep && entry.revision < this.#revision);
  }

  #dropHistory(isOld: (entry: HistoryEntry) => boolean): void {
    const touched = new Set<PrefixState>();
    let last: HistoryEntry | undefined;
    for (let entry = this.#history[this.#firstHistory]; entry !== undefined && isOld(entry);) {
      touched.add(entry.state);
      this.#historyBytes -= entry.bytes;
      last = entry;
      entry = this.#history[++this.#firstHistory];
    }
    if (last === undefined) return;
    for (const state of touched) state.dropEventsUpTo(last.revision);
    this.#compactedRevision = Math.max(this.#compactedRevision, last.revision - 1);
    if (this.#firstHistory * 2 < this.#history.length) return;
    this.#history = this.#history.slice(this.#firstHistory);
    this.#firstHistory = 0;
  }
}

/**
 * The object with its revision as resourceVersion, frozen; the caller's object is used when it may still be
 * changed.
 */
function stamped(object: UnstructuredObject, revision: number): UnstructuredObject {
  const resourceVersion = String(revision);
  const { metadata } = object;
  // What is not frozen was handed over by the decision, which is the only owner of this mutable copy.
  const open = Object.isFrozen(object) ? copyObject(object) : (object as { metadata: ObjectMeta } & UnstructuredObject);
  if (Object.isFrozen(metadata)) open.metadata = copyObject(metadata);
  (open.metadata as { resourceVersion: string }).resourceVersion = resourceVersion;
  return deepFreeze(open);
}

function notDurable(cause: unknown): ApiError {
  const text = messageOf(cause);
  const message = `Internal error occurred: the write could not be made durable and was refused: ${text}`;
  return new ApiError(failure(500, "InternalError", message), { cause });
}
