/** Follows the objects of one kind on the server: a complete list, then every change, for as long as it runs. */
import {
  type ApiError,
  isApiError,
  isExpired,
  isNotFound,
  type KubeObject,
  type RawFrame,
  type WatchEventType,
} from "@setpoint/apimachinery";
import type { Client, KindRef, ObjectScan, SelectorOptions, Stored } from "@setpoint/client";
import { sleep, type Host } from "@setpoint/host";
import { LostHistory, lostHistoryProblem } from "./lost-history.ts";
import { ReflectorMetrics } from "./reflector-metrics.ts";
import type { ReflectorTarget, StagedObjects } from "./reflector-target.ts";
import { listProblemOf } from "./list-problem.ts";
import { compareResourceVersions } from "./resource-version.ts";
import { type SyncMethod, SyncPlan } from "./sync-plan.ts";
import { TimeSlices } from "./time-slices.ts";
import { type FrameListener, followFrames, followRawFrames } from "./watch-frames.ts";
import { Watchdog } from "./watchdog.ts";

/** A server sends a bookmark about once a minute; a stream that is silent for longer than two of them is broken. */
const silenceMsMax = 150_000;
/** The first wait after an error, doubled up to the largest; half of it is jitter. */
const backoffMsFirst = 500;
const backoffMsMax = 30_000;
/** Many keys may miss their writes at once: one list is for all of them. Well below the time after which a key asks. */
const refreshMsMin = 5_000;
/** The wait before a short stream that has told something is resumed; half of it is jitter. */
const resumeMs = 50;
/** How often is asked whether a kind that the server does not serve has come. */
const unservedMsMax = 10_000;
/** What a server means that says 429 without a time: its cache of a kind is being filled. */
const retryAfterSecondsDefault = 1;
/** A stream that lived for so long was well; the back-off begins anew after it. */
const healthyStreamMs = 10_000;
/** Streaming lists in a row after which the server is asked whether it has gone back in time. */
const vainListsMax = 2;
/** A stream that tells older revisions than it was asked for makes one look so often at most. */
const doubtMs = 60_000;
/** Errors in a row after which they are logged as warnings. */
const errorsBeforeWarning = 3;
/** Watches end by themselves after 5–10 minutes, so that load spreads over servers that come back; as client-go. */
const watchSecondsMin = 300;

export interface ReflectorOptions extends Omit<SelectorOptions, "signal"> {
  readonly metadataOnly?: boolean;
  /** How the present objects are fetched; default: `list` where answers come as bytes, else `watchList`. */
  readonly sync?: SyncMethod;
}

/**
 * Guarantees: a target is told a complete list before any change, changes in the order of their revisions, and never an older
 * revision after a newer one, unless the cluster has gone back in time. A cut stream resumes where it ended; a compacted revision, or a
 * stream that stays silent, leads to a new list.
 */
export class Reflector {
  readonly #client: Client;
  readonly #host: Host;
  readonly #kind: KindRef;
  readonly #selection: Omit<ReflectorOptions, "sync">;
  readonly #target: ReflectorTarget;
  readonly #plan: SyncPlan;
  readonly #metrics: ReflectorMetrics;
  readonly #history: LostHistory;
  /** Everything up to here has been told; empty before the first list, and when a new list is due. */
  #resumeFrom = "";
  #newest = "0";
  #silentStreams = 0;
  #errors = 0;
  #isWaitingSaid = false;
  #problem: string | undefined;
  #lastFrameMs: number | undefined;
  #stream: AbortController | undefined;
  #relist = false;
  #listBegunMs: number = Number.NEGATIVE_INFINITY;
  /** Streaming lists that were begun and have not come to their end, in a row. */
  #vainLists = 0;
  /** Changes and bookmarks that streams have told, lists not counted. */
  #toldCount = 0;

  constructor(client: Client, host: Host, kind: KindRef, options: ReflectorOptions, target: ReflectorTarget) {
    const { sync = client.raw === undefined ? "watchList" : "list", ...selection } = options;
    this.#client = client;
    this.#host = host;
    this.#kind = kind;
    this.#selection = selection;
    this.#target = target;
    this.#plan = new SyncPlan(sync);
    this.#history = new LostHistory(host.clock);
    this.#metrics = new ReflectorMetrics(host.metrics, kind);
  }

  /** Milliseconds since the server last said anything; undefined before it ever did. */
  silentForMs(): number | undefined {
    return this.#lastFrameMs === undefined ? undefined : this.#host.clock.monotonic() - this.#lastFrameMs;
  }

  /** Why nothing can be heard, when a person has to do something about it. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Whether the server seems to have gone back in time. */
  get isDoubtful(): boolean {
    return this.#history.isSuspected;
  }

  /** Breaks the present stream and lists anew; does nothing when a list was begun a moment ago. */
  refresh(): void {
    if (this.#host.clock.monotonic() - this.#listBegunMs < refreshMsMin) return;
    this.#relist = true;
    this.#stream?.abort(new Error("a new list was asked for"));
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const startedMs = this.#host.clock.monotonic();
      const toldBefore = this.#toldCount;
      const wasLong = (): boolean => this.#host.clock.monotonic() - startedMs >= healthyStreamMs;
      const hasTold = (): boolean => this.#toldCount > toldBefore;
      try {
        await this.#runStream(signal);
        if (wasLong() || hasTold()) this.#errors = 0;
        // A busy server closes streams that it cannot serve in time: what they would have told is waited for.
        if (!wasLong()) await (hasTold() ? this.#resumeSoon(signal) : this.#backOff(signal));
      } catch (error) {
        if (signal.aborted) return;
        if (wasLong() || hasTold()) this.#errors = 0;
        if (!this.#relist) await this.#recover(error, signal);
      }
    }
  }

  async #runStream(signal: AbortSignal): Promise<void> {
    if (this.#relist) this.#resumeFrom = "";
    this.#relist = false;
    if (this.#resumeFrom === "") {
      this.#listBegunMs = this.#host.clock.monotonic();
      this.#metrics.listed(this.#plan.method);
      if (this.#plan.method !== "watchList") await this.#list(signal);
      // Whoever waits for a write breaks each try, before a server that lags, or has gone back, has said so.
      else if (this.#vainLists++ >= vainListsMax && this.#newest !== "0") await this.#askNewest(signal);
    }
    await this.#watch(signal);
  }

  /** A consistent list: the newest that the server has. */
  async #list(signal: AbortSignal): Promise<void> {
    if (this.#client.raw !== undefined) return this.#listRaw(signal);
    const pageSize = this.#plan.method === "pages" ? {} : { pageSize: 0 };
    const options = { ...this.#selection, ...pageSize, signal };
    const list = await this.#fetched(this.#client.listAll<KubeObject>(this.#kind, options), signal);
    this.#replace(list.items, list.resourceVersion);
  }

  async #listRaw(signal: AbortSignal): Promise<void> {
    const staged = this.#target.stage();
    try {
      const resourceVersion = await this.#fetched(this.#stagePages(staged, signal), signal);
      await this.#replaceRaw(staged, resourceVersion);
    } catch (error) {
      staged.discard();
      throw error;
    }
  }

  /** A list that begins and does not end, or that the server gives up, is too much for one answer. */
  async #fetched<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
    const heardMs = this.#lastFrameMs;
    try {
      return await answer;
    } catch (error) {
      const isTooMuch = isApiError(error) ? !isPassing(error) : heardMs !== this.#lastFrameMs;
      if (this.#plan.method === "list" && !signal.aborted && isTooMuch) this.#plan.fallBack();
      throw error;
    }
  }

  /** Resolves to the revision of the list. */
  async #stagePages(staged: StagedObjects, signal: AbortSignal): Promise<string> {
    const slices = new TimeSlices(this.#host.clock);
    const limit = this.#plan.method === "pages" ? { limit: pageSize } : {};
    let page: { readonly resourceVersion?: string; readonly continue?: string } = {};
    do {
      const next = page.continue === undefined ? {} : { continue: page.continue };
      const list = await this.#client.raw?.list(this.#kind, { ...this.#selection, ...limit, ...next, signal });
      if (list === undefined) return "";
      for await (const batch of list.batches) {
        signal.throwIfAborted();
        this.#lastFrameMs = this.#host.clock.monotonic();
        for (const bytes of batch) {
          staged.add(bytes);
          if (slices.isOver()) await slices.pause();
        }
      }
      page = list.metadata();
    } while (page.continue !== undefined && page.continue !== "");
    return page.resourceVersion ?? "";
  }

  #replace(objects: readonly Stored<KubeObject>[], resourceVersion: string): void {
    this.#assertNotOlder(resourceVersion);
    this.#target.replace(
      objects.map((item) => withTypeOf(item, this.#kind)),
      resourceVersion,
    );
    this.#advance(resourceVersion);
    this.#silentStreams = 0;
  }

  async #replaceRaw(staged: StagedObjects, resourceVersion: string): Promise<void> {
    this.#assertNotOlder(resourceVersion);
    await staged.commit();
    this.#advance(resourceVersion);
    this.#silentStreams = 0;
  }

  #assertNotOlder(resourceVersion: string): void {
    if (this.#history.isProvenBy(resourceVersion, this.#newest)) return this.#beginAnew(resourceVersion);
    if (!this.#history.isSuspected) return;
    this.#noteProblem(lostHistoryProblem(this.#kind.plural, resourceVersion, this.#newest));
    throw new Error(`the list is of revision ${resourceVersion}, older than ${this.#newest}, which was seen already`);
  }

  /** What was seen is of a history that is no more. The next list is the truth, whatever its revisions are. */
  #beginAnew(resourceVersion: string): never {
    const seen = this.#newest;
    this.#history.accept();
    this.#newest = "0";
    this.#resumeFrom = "";
    this.#errors = 0;
    this.#metrics.restored();
    this.#target.restored();
    this.#host.log.error("Cluster has gone back in time; listing anew", {
      resource: this.#kind.plural,
      ...{ seen, newest: resourceVersion },
    });
    throw new Error(`the history that reached ${seen} is no more: the server's newest revision is ${resourceVersion}`);
  }

  /** Asks the server for its newest revision, which no replica may answer from memory. */
  async #askNewest(signal: AbortSignal): Promise<void> {
    try {
      const { metadata } = await this.#client.list<KubeObject>(this.#kind, { ...this.#selection, limit: 1, signal });
      if (metadata.resourceVersion !== undefined) this.#assertNotOlder(metadata.resourceVersion);
    } catch (error) {
      this.#host.log.debug("Asked for the newest revision", { resource: this.#kind.plural, error });
    }
  }

  #advance(resourceVersion: string): void {
    this.#resumeFrom = resourceVersion;
    this.#newest = resourceVersion;
    this.#vainLists = 0;
    this.#lastFrameMs = this.#host.clock.monotonic();
    this.#isWaitingSaid = false;
    this.#target.progress(resourceVersion);
  }

  async #watch(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const stream = new AbortController();
    this.#stream = stream;
    const watchdog = new Watchdog(this.#host.clock, silenceMsMax, () => {
      this.#silentStreams++;
      // A server that ignores `sendInitialEvents` never says that they have ended.
      if (this.#resumeFrom === "") this.#plan.fallBack();
      stream.abort(new Error(`the watch was silent for ${silenceMsMax / 1_000} s`));
    });
    // Not `AbortSignal.any`, whose signal looks at its sources whenever it is asked, which is at every frame.
    const onAbort = (): void => stream.abort(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      await this.#follow(this.#listener(watchdog, stream.signal), stream.signal);
      stream.signal.throwIfAborted();
    } finally {
      watchdog.stop();
      signal.removeEventListener("abort", onAbort);
      // Also when the frames were not read to their end.
      stream.abort(new Error("the stream is over"));
      this.#stream = undefined;
    }
  }

  async #follow(listener: FrameListener, signal: AbortSignal): Promise<void> {
    const isInitial = this.#resumeFrom === "";
    const options = this.#watchOptions(signal);
    const { raw } = this.#client;
    try {
      if (raw === undefined) {
        const frames = await this.#client.watch(this.#kind, options);
        this.#forgetProblem();
        return await followFrames(frames, isInitial, listener);
      }
      const frames = await raw.watch(this.#kind, options);
      this.#forgetProblem();
      return await this.#followRaw(frames, isInitial ? this.#target.stage() : undefined, listener);
    } catch (error) {
      if (isInitial && isRefusal(error)) this.#plan.fallBack();
      throw error;
    }
  }

  async #followRaw(
    frames: AsyncIterable<readonly RawFrame[]>,
    staged: StagedObjects | undefined,
    listener: FrameListener,
  ): Promise<void> {
    try {
      await followRawFrames(frames, staged, listener);
    } finally {
      if (this.#resumeFrom === "") staged?.discard();
    }
  }

  #watchOptions(signal: AbortSignal): Parameters<Client["watch"]>[1] {
    const isInitial = this.#resumeFrom === "";
    const timeoutSeconds = watchSecondsMin + this.#host.random.int(watchSecondsMin);
    const start = isInitial ? { sendInitialEvents: true } : { resourceVersion: this.#resumeFrom };
    // An answer not older than what was seen: another server of the cluster may lag behind.
    const notOlder = isInitial && this.#newest !== "0" ? { resourceVersion: this.#newest } : {};
    return { ...this.#selection, ...start, ...notOlder, timeoutSeconds, signal };
  }

  #listener(watchdog: Watchdog, signal: AbortSignal): FrameListener {
    return {
      heard: () => {
        signal.throwIfAborted();
        watchdog.reset();
      },
      tell: (type, object) => this.#tell(type, object),
      tellRaw: (type, bytes, scan) => this.#tellRaw(type, bytes, scan),
      complete: (objects, resourceVersion) => this.#replace(objects, resourceVersion),
      completeRaw: (staged, resourceVersion) => this.#replaceRaw(staged, resourceVersion),
    };
  }

  #tell(type: WatchEventType, object: Stored<KubeObject>): void {
    const { resourceVersion } = object.metadata;
    if (this.#isSeen(resourceVersion)) return type === "BOOKMARK" ? this.#doubt() : undefined;
    if (type === "DELETED") this.#target.remove(object);
    else if (type !== "BOOKMARK") this.#target.set(object);
    this.#told(resourceVersion);
  }

  #tellRaw(type: WatchEventType, bytes: Uint8Array, scan: ObjectScan): void {
    const resourceVersion = scan.resourceVersionText();
    if (this.#isSeen(resourceVersion)) return;
    if (type === "DELETED") this.#target.removeRaw(scan);
    else this.#target.setRaw(bytes, scan);
    this.#told(resourceVersion);
  }

  /** Streams that overlap after a resume, or a server that repeats itself. */
  #isSeen(resourceVersion: string): boolean {
    return compareResourceVersions(resourceVersion, this.#newest) < 0;
  }

  /** No stream stands where its server has not come yet, but one that lags, or one that has gone back: a list tells. */
  #doubt(): void {
    if (this.#host.clock.monotonic() - this.#listBegunMs < doubtMs) return;
    this.#relist = true;
    this.#stream?.abort(new Error("the stream is older than what was seen"));
  }

  #told(resourceVersion: string): void {
    this.#silentStreams = 0;
    this.#toldCount++;
    this.#advance(resourceVersion);
  }

  /** Decides where the next stream begins, and waits until it may. */
  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    const { log, clock, random } = this.#host;
    const resource = this.#kind.plural;
    this.#metrics.broke(error);
    if (isExpired(error)) this.#resumeFrom = "";
    // Silent twice from the same place: whatever it is that this stream does not tell, a list does.
    if (this.#silentStreams > 1) this.#resumeFrom = "";
    const hadProblem = this.#noteProblem(listProblemOf(error, this.#kind, this.#selection.namespace));
    if (isTooLargeRevision(error) && this.#newest !== "0") await this.#askNewest(signal);
    if (isApiError(error) && (error.code === 429 || isNotFound(error))) {
      const isUnserved = error.code === 404;
      // The kind's next life has its own history.
      if (isUnserved) this.#resumeFrom = "";
      if (!this.#isWaitingSaid && !isUnserved) log.info("Waiting for the server's cache", { resource });
      this.#isWaitingSaid = true;
      const waitMs = isUnserved
        ? Math.min(backoffMsFirst * 2 ** this.#errors++, unservedMsMax)
        : (error.status.details?.retryAfterSeconds ?? retryAfterSecondsDefault) * 1_000;
      return sleep(clock, waitMs * (1 + random.next() / 4), signal).catch(() => {});
    }
    // One cut stream is daily life; several in a row are for a person to see.
    const level = this.#errors < errorsBeforeWarning || hadProblem ? "debug" : "warn";
    log[level]("Watch ended", { resource, resumeFrom: this.#resumeFrom, error });
    return this.#backOff(signal);
  }

  /** Says once what a person has to do; whether there is something. */
  #noteProblem(problem: string | undefined): boolean {
    if (problem !== undefined && problem !== this.#problem)
      this.#host.log.error("Cannot fill a cache", { resource: this.#kind.plural, problem });
    // Other errors do not mend it: only an answer does.
    this.#problem = problem ?? this.#problem;
    return problem !== undefined;
  }

  /** Listing alone proves nothing: the right to watch may still be missing. */
  #forgetProblem(): void {
    if (this.#problem !== undefined) this.#host.log.info("Can fill a cache again", { resource: this.#kind.plural });
    this.#problem = undefined;
  }

  async #resumeSoon(signal: AbortSignal): Promise<void> {
    await sleep(this.#host.clock, resumeMs * (0.5 + this.#host.random.next() / 2), signal).catch(() => {});
  }

  async #backOff(signal: AbortSignal): Promise<void> {
    const delayMs = Math.min(backoffMsFirst * 2 ** this.#errors++, backoffMsMax);
    await sleep(this.#host.clock, delayMs * (0.5 + this.#host.random.next() / 2), signal).catch(() => {});
  }
}

/** As client-go's pager. */
const pageSize = 500;

/** Answers that say "not now" or "not you", after which the same request may succeed. */
const passingCodes: ReadonlySet<number> = new Set([401, 403, 404, 410, 429]);

function isPassing(error: ApiError): boolean {
  return passingCodes.has(error.code) || error.code === 503;
}

/** Whether the server understood the request and does not want it, so that asking otherwise may help. */
function isRefusal(error: unknown): boolean {
  return isApiError(error) && error.code >= 400 && error.code < 500 && !passingCodes.has(error.code);
}

/** The server has not come to the revision that it was asked for, or never will. */
function isTooLargeRevision(error: unknown): boolean {
  return (
    isApiError(error) && (error.status.details?.causes ?? []).some(({ reason }) => reason === "ResourceVersionTooLarge")
  );
}

/** Items of a typed list carry neither apiVersion nor kind. */
function withTypeOf(object: Stored<KubeObject>, kind: KindRef): Stored<KubeObject> {
  if (object.kind !== undefined && object.apiVersion !== undefined) return object;
  return { ...object, apiVersion: kind.group === "" ? kind.version : `${kind.group}/${kind.version}`, kind: kind.kind };
}
