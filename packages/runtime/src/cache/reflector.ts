/** Follows the objects of one kind on the server: a complete list, then every change, for as long as it runs. */
import type { KubeObject, RawFrame, WatchEventType } from "@setpoint/apimachinery";
import type { Client, KindRef, ObjectScan, Stored } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import { HistoryGuard } from "./history-guard.ts";
import { KindLister, type ObjectSelection } from "./kind-lister.ts";
import { listProblemOf } from "./list-problem.ts";
import { ReflectorMetrics } from "./reflector-metrics.ts";
import type { ReflectorTarget, StagedObjects } from "./reflector-target.ts";
import { type SyncMethod, SyncPlan } from "./sync-plan.ts";
import { ToldProblem } from "./told-problem.ts";
import { isRefusal, isTooLargeRevision } from "./watch-errors.ts";
import { type FrameListener, followFrames, followRawFrames } from "./watch-frames.ts";
import { WatchPatience } from "./watch-patience.ts";
import { WatchPosition } from "./watch-position.ts";
import { Watchdog } from "./watchdog.ts";

/** A server sends a bookmark about once a minute; a stream that is silent for longer than two of them is broken. */
const silenceMsMax = 150_000;
/** Many keys may miss their writes at once: one list is for all of them. Well below the time after which a key asks. */
const refreshMsMin = 5_000;
/** A stream that lived for so long was well; the back-off begins anew after it. */
const healthyStreamMs = 10_000;
/** A stream that tells older revisions than it was asked for makes one look so often at most. */
const doubtMs = 60_000;
/** Watches end by themselves after 5–10 minutes, so that load spreads over servers that come back; as client-go. */
const watchSecondsMin = 300;

/** Nobody is to see it, and the stack of a new one for each stream would cost as much as its begin. */
const streamIsOver: Error = new Error("the stream is over");

export interface ReflectorOptions extends ObjectSelection {
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
  readonly #selection: ObjectSelection;
  readonly #target: ReflectorTarget;
  readonly #plan: SyncPlan;
  readonly #metrics: ReflectorMetrics;
  readonly #position = new WatchPosition();
  readonly #patience: WatchPatience;
  readonly #problem: ToldProblem;
  readonly #history: HistoryGuard;
  readonly #lister: KindLister;
  #lastFrameMs: number | undefined;
  #stream: AbortController | undefined;
  #relist = false;
  #listBegunMs: number = Number.NEGATIVE_INFINITY;
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
    this.#metrics = new ReflectorMetrics(host.metrics, kind);
    this.#patience = new WatchPatience(host, kind.plural);
    this.#problem = new ToldProblem(host.log, kind.plural);
    this.#history = new HistoryGuard({
      ...{ client, host, kind, selection, position: this.#position, problem: this.#problem },
      restored: () => this.#restored(),
    });
    this.#lister = new KindLister({
      ...{ client, clock: host.clock, kind, selection, plan: this.#plan },
      stage: () => target.stage(),
      heard: () => this.#heard(),
    });
  }

  /** Milliseconds since the server last said anything; undefined before it ever did. */
  silentForMs(): number | undefined {
    return this.#lastFrameMs === undefined ? undefined : this.#host.clock.monotonic() - this.#lastFrameMs;
  }

  /** Why nothing can be heard, when a person has to do something about it. */
  get problem(): string | undefined {
    return this.#problem.text;
  }

  /** Whether the server seems to have gone back in time. */
  get isDoubtful(): boolean {
    return this.#history.isSuspected;
  }

  /** Breaks the present stream and lists anew; does nothing when a list was begun a moment ago. */
  refresh(): void {
    this.#listAnew(refreshMsMin, "a new list was asked for");
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
        if (wasLong() || hasTold()) this.#patience.beginAnew();
        // A busy server closes streams that it cannot serve in time: what they would have told is waited for.
        if (!wasLong()) await (hasTold() ? this.#patience.resumeSoon(signal) : this.#patience.backOff(signal));
      } catch (error) {
        if (signal.aborted) return;
        if (wasLong() || hasTold()) this.#patience.beginAnew();
        if (!this.#relist) await this.#recover(error, signal);
      }
    }
  }

  async #runStream(signal: AbortSignal): Promise<void> {
    if (this.#relist) this.#position.listNext();
    this.#relist = false;
    if (this.#position.isListDue) {
      this.#listBegunMs = this.#host.clock.monotonic();
      this.#metrics.listed(this.#plan.method);
      if (this.#plan.method !== "watchList") await this.#lister.list(this.#completion, signal);
      else if (this.#position.beginStreamingList()) await this.#history.askNewest(signal);
    }
    await this.#watch(signal);
  }

  async #watch(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const stream = new AbortController();
    this.#stream = stream;
    const watchdog = new Watchdog(this.#host.clock, silenceMsMax, () => {
      this.#position.fellSilent();
      // A server that ignores `sendInitialEvents` never says that they have ended.
      if (this.#position.isListDue) this.#plan.fallBack();
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
      stream.abort(streamIsOver);
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
        this.#problem.mended();
        return await followFrames(frames, isInitial, listener);
      }
      const frames = await raw.watch(this.#kind, options);
      this.#problem.mended();
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
      if (this.#position.isListDue) staged?.discard();
    }
  }

  /** What becomes of a complete set, whichever way it came. */
  readonly #completion: Pick<FrameListener, "complete" | "completeRaw"> = {
    complete: (objects, resourceVersion) => {
      this.#history.assertNotOlder(resourceVersion);
      this.#target.replace(
        objects.map((item) => withTypeOf(item, this.#kind)),
        resourceVersion,
      );
      this.#advance(resourceVersion);
    },
    completeRaw: async (staged, resourceVersion) => {
      this.#history.assertNotOlder(resourceVersion);
      await staged.commit();
      this.#advance(resourceVersion);
    },
  };

  #listener(watchdog: Watchdog, signal: AbortSignal): FrameListener {
    return {
      heard: () => {
        signal.throwIfAborted();
        watchdog.reset();
      },
      tell: (type, object) => this.#tell(type, object),
      tellRaw: (type, bytes, scan) => this.#tellRaw(type, bytes, scan),
      ...this.#completion,
    };
  }

  #tell(type: WatchEventType, object: Stored<KubeObject>): void {
    const { resourceVersion } = object.metadata;
    if (this.#position.isPast(resourceVersion)) return type === "BOOKMARK" ? this.#doubt() : undefined;
    if (type === "DELETED") this.#target.remove(object);
    else if (type !== "BOOKMARK") this.#target.set(object);
    this.#told(resourceVersion);
  }

  #tellRaw(type: WatchEventType, bytes: Uint8Array, scan: ObjectScan): void {
    const resourceVersion = scan.resourceVersionText();
    if (this.#position.isPast(resourceVersion)) return;
    if (type === "DELETED") this.#target.removeRaw(scan);
    else this.#target.setRaw(bytes, scan);
    this.#told(resourceVersion);
  }

  #told(resourceVersion: string): void {
    this.#toldCount++;
    this.#advance(resourceVersion);
  }

  #advance(resourceVersion: string): void {
    this.#position.advance(resourceVersion);
    this.#patience.answered();
    this.#heard();
    this.#target.progress(resourceVersion);
  }

  #heard(): void {
    this.#lastFrameMs = this.#host.clock.monotonic();
  }

  /** No stream stands where its server has not come yet, but one that lags, or one that has gone back: a list tells. */
  #doubt(): void {
    this.#listAnew(doubtMs, "the stream is older than what was seen");
  }

  /** Unless a list was begun so short a time ago. */
  #listAnew(msMin: number, why: string): void {
    if (this.#host.clock.monotonic() - this.#listBegunMs < msMin) return;
    this.#relist = true;
    this.#stream?.abort(new Error(why));
  }

  #restored(): void {
    this.#patience.beginAnew();
    this.#metrics.restored();
    this.#target.restored();
  }

  /** Decides where the next stream begins, and waits until it may. */
  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    this.#metrics.broke(error);
    this.#position.broke(error);
    const isTold = this.#problem.note(listProblemOf(error, this.#kind, this.#selection.namespace));
    if (isTooLargeRevision(error) && this.#position.hasSeenAny) await this.#history.askNewest(signal);
    return this.#patience.afterError(error, isTold, { resumeFrom: this.#position.resumeFrom }, signal);
  }
}

/** Items of a typed list carry neither apiVersion nor kind. */
function withTypeOf(object: Stored<KubeObject>, kind: KindRef): Stored<KubeObject> {
  if (object.kind !== undefined && object.apiVersion !== undefined) return object;
  return { ...object, apiVersion: kind.group === "" ? kind.version : `${kind.group}/${kind.version}`, kind: kind.kind };
}
