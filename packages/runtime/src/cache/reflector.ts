/**
 * Follows the objects of one kind on the server: a complete list, then every change, for as long as it runs.
 */
import type { KubeObject, RawFrame, WatchEventType } from "@setpoint/apimachinery";
import type { Client, KindRef, ObjectScan, Stored } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import { RestoreGuard } from "./restore-guard.ts";
import { ListPager, type ObjectSelection } from "./list-pager.ts";
import { listProblemOf } from "./list-problem.ts";
import { ReflectorMetrics } from "./reflector-metrics.ts";
import type { ReflectorStore, StagedObjects } from "./reflector-store.ts";
import { type SyncMethod, SyncPlan } from "./sync-plan.ts";
import { ReportedProblem } from "./reported-problem.ts";
import { isRefusal, isTooLargeRevision } from "./watch-errors.ts";
import { type FrameListener, followFrames, followRawFrames } from "./watch-frames.ts";
import { WatchBackoff } from "./watch-backoff.ts";
import { WatchPosition } from "./watch-position.ts";
import { Watchdog } from "./watchdog.ts";

/**
 * A server sends a bookmark about once a minute; a stream that is silent for longer than two of them is
 * broken.
 */
const silenceMsMax = 150_000;
/**
 * Many keys may wait for their writes at once: one list serves all. Well below the time after which a key
 * asks again.
 */
const refreshMsMin = 5_000;
/** A stream that lived for so long was healthy and resets the back-off. */
const healthyStreamMs = 10_000;
/** A stream with revisions older than asked for causes at most one relist in this time. */
const staleRelistMsMin = 60_000;
/**
 * Watches end by themselves after 5–10 minutes, so that load spreads over restarted servers; as in client-go.
 */
const watchSecondsMin = 300;

export interface ReflectorOptions extends ObjectSelection {
  /** How the present objects are fetched; default: `list` where answers come as bytes, else `watchList`. */
  readonly sync?: SyncMethod;
}

/**
 * Guarantees: the store gets a complete list before any change, and changes in the order of their revisions.
 * It never gets an older revision after a newer one, unless the cluster was restored from a backup. A cut
 * stream resumes where it ended. A compacted revision or a silent stream leads to a relist.
 */
export class Reflector {
  readonly #client: Client;
  readonly #host: Host;
  readonly #kind: KindRef;
  readonly #selection: ObjectSelection;
  readonly #store: ReflectorStore;
  readonly #plan: SyncPlan;
  readonly #metrics: ReflectorMetrics;
  readonly #position = new WatchPosition();
  readonly #backoff: WatchBackoff;
  readonly #problem: ReportedProblem;
  readonly #restoreGuard: RestoreGuard;
  readonly #pager: ListPager;
  #lastFrameMs: number | undefined;
  #stream: AbortController | undefined;
  #relist = false;
  #listBegunMs: number = Number.NEGATIVE_INFINITY;
  /** Changes and bookmarks that streams have brought, lists not counted. */
  #changeCount = 0;

  constructor(client: Client, host: Host, kind: KindRef, options: ReflectorOptions, store: ReflectorStore) {
    const { sync = client.raw === undefined ? "watchList" : "list", ...selection } = options;
    this.#client = client;
    this.#host = host;
    this.#kind = kind;
    this.#selection = selection;
    this.#store = store;
    this.#plan = new SyncPlan(sync);
    this.#metrics = new ReflectorMetrics(host.metrics, kind);
    this.#backoff = new WatchBackoff(host, kind.plural);
    this.#problem = new ReportedProblem(host.log, kind.plural);
    this.#restoreGuard = new RestoreGuard({
      ...{ client, host, kind, selection, position: this.#position, problem: this.#problem },
      restored: () => this.#restored(),
    });
    this.#pager = new ListPager({
      ...{ client, clock: host.clock, kind, selection, plan: this.#plan },
      stage: () => store.stage(),
      heard: () => this.#heard(),
    });
  }

  /** Milliseconds since the server last sent anything; undefined before it ever did. */
  silentForMs(): number | undefined {
    return this.#lastFrameMs === undefined ? undefined : this.#host.clock.monotonic() - this.#lastFrameMs;
  }

  /** Why the kind cannot be listed or watched, when a user has to act. */
  get problem(): string | undefined {
    return this.#problem.text;
  }

  /** Whether the cluster seems to have been restored. */
  get isDoubtful(): boolean {
    return this.#restoreGuard.isSuspected;
  }

  /** Breaks the present stream and relists; does nothing when a list was started a moment ago. */
  refresh(): void {
    this.#relistUnlessRecent(refreshMsMin, "a refresh was requested");
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const startedMs = this.#host.clock.monotonic();
      const countBefore = this.#changeCount;
      const wasLong = (): boolean => this.#host.clock.monotonic() - startedMs >= healthyStreamMs;
      const hasBroughtChanges = (): boolean => this.#changeCount > countBefore;
      try {
        await this.#runStream(signal);
        if (wasLong() || hasBroughtChanges()) this.#backoff.reset();
        // A busy server closes streams that it cannot serve in time; their changes come with the next one.
        if (!wasLong()) await (hasBroughtChanges() ? this.#backoff.waitShortly(signal) : this.#backoff.wait(signal));
      } catch (error) {
        if (signal.aborted) return;
        if (wasLong() || hasBroughtChanges()) this.#backoff.reset();
        if (!this.#relist) await this.#recover(error, signal);
      }
    }
  }

  async #runStream(signal: AbortSignal): Promise<void> {
    if (this.#relist) this.#position.relist();
    this.#relist = false;
    if (this.#position.isListDue) {
      this.#listBegunMs = this.#host.clock.monotonic();
      this.#metrics.listed(this.#plan.method);
      if (this.#plan.method !== "watchList") await this.#pager.list(this.#completion, signal);
      else if (this.#position.startStreamingList()) await this.#restoreGuard.askNewest(signal);
    }
    await this.#watch(signal);
  }

  async #watch(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const stream = new AbortController();
    this.#stream = stream;
    const watchdog = new Watchdog(this.#host.clock, silenceMsMax, () => {
      this.#position.timedOut();
      // A server that ignores `sendInitialEvents` never marks their end.
      if (this.#position.isListDue) this.#plan.fallBack();
      stream.abort(new Error(`the watch was silent for ${silenceMsMax / 1_000} s`));
    });
    const onAbort = (): void => stream.abort(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      await this.#follow(this.#listener(watchdog, stream.signal), stream.signal);
      stream.signal.throwIfAborted();
    } finally {
      watchdog.stop();
      signal.removeEventListener("abort", onAbort);
      // Also when the frames were not read to their end.
      stream.abort();
      this.#stream = undefined;
    }
  }

  async #follow(listener: FrameListener, signal: AbortSignal): Promise<void> {
    const isInitial = this.#position.isListDue;
    const timeoutSeconds = watchSecondsMin + this.#host.random.int(watchSecondsMin);
    const options = { ...this.#selection, ...this.#position.start(), timeoutSeconds, signal };
    const { raw } = this.#client;
    try {
      if (raw === undefined) {
        const frames = await this.#client.watch(this.#kind, options);
        this.#problem.resolve();
        return await followFrames(frames, isInitial, listener);
      }
      const frames = await raw.watch(this.#kind, options);
      this.#problem.resolve();
      return await this.#followRaw(frames, isInitial ? this.#store.stage() : undefined, listener);
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
      if (this.#position.isListDue) staged?.discard();
    }
  }

  /** Handles a complete set, whichever way it came. */
  readonly #completion: Pick<FrameListener, "onComplete" | "onRawComplete"> = {
    onComplete: (objects, resourceVersion) => {
      this.#restoreGuard.assertNotOlder(resourceVersion);
      this.#store.replace(
        objects.map((item) => withTypeOf(item, this.#kind)),
        resourceVersion,
      );
      this.#advance(resourceVersion);
    },
    onRawComplete: async (staged, resourceVersion) => {
      this.#restoreGuard.assertNotOlder(resourceVersion);
      await staged.commit();
      this.#advance(resourceVersion);
    },
  };

  #listener(watchdog: Watchdog, signal: AbortSignal): FrameListener {
    return {
      onFrame: () => {
        signal.throwIfAborted();
        watchdog.reset();
      },
      onChange: (type, object) => this.#onChange(type, object),
      onRawChange: (type, bytes, scan) => this.#onRawChange(type, bytes, scan),
      ...this.#completion,
    };
  }

  #onChange(type: WatchEventType, object: Stored<KubeObject>): void {
    const { resourceVersion } = object.metadata;
    if (this.#position.isPast(resourceVersion)) return type === "BOOKMARK" ? this.#onStaleBookmark() : undefined;
    if (type === "DELETED") this.#store.remove(object);
    else if (type !== "BOOKMARK") this.#store.set(object);
    this.#countChange(resourceVersion);
  }

  #onRawChange(type: WatchEventType, bytes: Uint8Array, scan: ObjectScan): void {
    const resourceVersion = scan.resourceVersionText();
    if (this.#position.isPast(resourceVersion)) return;
    if (type === "DELETED") this.#store.removeRaw(scan);
    else this.#store.setRaw(bytes, scan);
    this.#countChange(resourceVersion);
  }

  #countChange(resourceVersion: string): void {
    this.#changeCount++;
    this.#advance(resourceVersion);
  }

  #advance(resourceVersion: string): void {
    this.#position.advance(resourceVersion);
    this.#backoff.answered();
    this.#heard();
    this.#store.progress(resourceVersion);
  }

  #heard(): void {
    this.#lastFrameMs = this.#host.clock.monotonic();
  }

  /** Only a lagging or a restored server sends older revisions than asked for; a list shows which. */
  #onStaleBookmark(): void {
    this.#relistUnlessRecent(staleRelistMsMin, "the stream sent revisions older than those seen");
  }

  #relistUnlessRecent(msMin: number, why: string): void {
    if (this.#host.clock.monotonic() - this.#listBegunMs < msMin) return;
    this.#relist = true;
    this.#stream?.abort(new Error(why));
  }

  #restored(): void {
    this.#backoff.reset();
    this.#metrics.restored();
    this.#store.restored();
  }

  /** Decides where the next stream begins, and waits until it may. */
  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    this.#metrics.broke(error);
    this.#position.broke(error);
    const isReported = this.#problem.report(listProblemOf(error, this.#kind, this.#selection.namespace));
    if (isTooLargeRevision(error) && this.#position.hasSeenAny) await this.#restoreGuard.askNewest(signal);
    return this.#backoff.waitAfterError(error, isReported, { resumeFrom: this.#position.resumeFrom }, signal);
  }
}

/** Items of a typed list carry neither apiVersion nor kind. */
function withTypeOf(object: Stored<KubeObject>, kind: KindRef): Stored<KubeObject> {
  if (object.kind !== undefined && object.apiVersion !== undefined) return object;
  return { ...object, apiVersion: kind.group === "" ? kind.version : `${kind.group}/${kind.version}`, kind: kind.kind };
}
