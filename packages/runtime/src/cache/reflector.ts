/** Follows the objects of one kind on the server: a complete list, then every change, for as long as it runs. */
import {
  failure,
  isApiError,
  isExpired,
  isStatus,
  ApiError,
  type KubeObject,
  type WatchFrame,
} from "@setpoint/apimachinery";
import type { Client, KindRef, SelectorOptions, Stored } from "@setpoint/client";
import { sleep, type Host } from "@setpoint/host";
import { compareResourceVersions } from "./resource-version.ts";

/** A server sends a bookmark about once a minute; a stream that is silent for longer than two of them is broken. */
const silenceMsMax = 150_000;
/** The first wait after an error, doubled up to the largest; half of it is jitter. */
const backoffMsFirst = 500;
const backoffMsMax = 30_000;
/** A stream that lived for so long was well; the back-off begins anew after it. */
const healthyStreamMs = 10_000;
/** Errors in a row after which they are logged as warnings. */
const errorsBeforeWarning = 3;
/** Watches end by themselves after 5–10 minutes, so that load spreads over servers that come back; as client-go. */
const watchSecondsMin = 300;

const initialEventsEnd = "k8s.io/initial-events-end";

/** What follows a reflector. Calls come in order and never from two streams at once. */
export interface ReflectorTarget {
  /** The complete set at this revision; what it lacks is gone. */
  replace(objects: readonly Stored<KubeObject>[], resourceVersion: string): void;
  set(object: Stored<KubeObject>): void;
  remove(object: Stored<KubeObject>): void;
  /** All changes up to this revision have been told. */
  progress(resourceVersion: string): void;
}

export interface ReflectorOptions extends Omit<SelectorOptions, "signal"> {
  readonly metadataOnly?: boolean;
}

/**
 * Guarantees: a target is told a complete list before any change, changes in the order of their revisions, and never an older
 * revision after a newer one. A cut stream resumes where it ended; a compacted revision, or a stream that stays silent, leads
 * to a new list.
 */
export class Reflector {
  readonly #client: Client;
  readonly #host: Host;
  readonly #kind: KindRef;
  readonly #options: ReflectorOptions;
  readonly #target: ReflectorTarget;
  /** Everything up to here has been told; empty before the first list, and when a new list is due. */
  #resumeFrom = "";
  #newest = "0";
  #usesWatchList = true;
  #silentStreams = 0;
  #errors = 0;
  #lastFrameMs: number | undefined;
  #stream: AbortController | undefined;
  #relist = false;

  constructor(client: Client, host: Host, kind: KindRef, options: ReflectorOptions, target: ReflectorTarget) {
    this.#client = client;
    this.#host = host;
    this.#kind = kind;
    this.#options = options;
    this.#target = target;
  }

  /** Milliseconds since the server last said anything; undefined before it ever did. */
  silentForMs(): number | undefined {
    return this.#lastFrameMs === undefined ? undefined : this.#host.clock.monotonic() - this.#lastFrameMs;
  }

  /** Breaks the present stream and lists anew. */
  refresh(): void {
    this.#relist = true;
    this.#stream?.abort(new Error("a new list was asked for"));
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const startedMs = this.#host.clock.monotonic();
      try {
        await this.#runStream(signal);
        if (this.#host.clock.monotonic() - startedMs < healthyStreamMs) await this.#backOff(signal);
        else this.#errors = 0;
      } catch (error) {
        if (signal.aborted) return;
        if (this.#host.clock.monotonic() - startedMs >= healthyStreamMs) this.#errors = 0;
        this.#note(error);
        await this.#backOff(signal);
      }
    }
  }

  async #runStream(signal: AbortSignal): Promise<void> {
    if (this.#relist) this.#resumeFrom = "";
    this.#relist = false;
    if (this.#resumeFrom === "" && !this.#usesWatchList) await this.#list(signal);
    await this.#watch(signal);
  }

  /** A consistent list, in pages. */
  async #list(signal: AbortSignal): Promise<void> {
    const list = await this.#client.listAll<KubeObject>(this.#kind, { ...this.#options, signal });
    this.#replace(
      list.items.map((item) => withTypeOf(item, this.#kind)),
      list.resourceVersion,
    );
  }

  #replace(objects: readonly Stored<KubeObject>[], resourceVersion: string): void {
    if (compareResourceVersions(resourceVersion, this.#newest) < 0)
      throw new Error(`the list is of revision ${resourceVersion}, older than ${this.#newest}, which was seen already`);
    this.#target.replace(objects, resourceVersion);
    this.#advance(resourceVersion);
    this.#silentStreams = 0;
  }

  #advance(resourceVersion: string): void {
    this.#resumeFrom = resourceVersion;
    this.#newest = resourceVersion;
    this.#lastFrameMs = this.#host.clock.monotonic();
    this.#target.progress(resourceVersion);
  }

  async #watch(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const stream = new AbortController();
    this.#stream = stream;
    const watchdog = new Watchdog(this.#host.clock, () => {
      this.#silentStreams++;
      // A server that ignores `sendInitialEvents` never says that they have ended.
      if (this.#resumeFrom === "") this.#usesWatchList = false;
      stream.abort(new Error(`the watch was silent for ${silenceMsMax / 1_000} s`));
    });
    // Not `AbortSignal.any`, whose signal looks at its sources whenever it is asked, which is at every frame.
    const onAbort = (): void => stream.abort(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const frames = await this.#openWatch(stream.signal);
      const initial = this.#resumeFrom === "" ? new Map<string, Stored<KubeObject>>() : undefined;
      await this.#consume(frames, initial, watchdog, stream.signal);
    } finally {
      watchdog.stop();
      signal.removeEventListener("abort", onAbort);
      // Also when the frames were not read to their end.
      stream.abort(new Error("the stream is over"));
      this.#stream = undefined;
    }
  }

  async #openWatch(signal: AbortSignal): Promise<AsyncIterable<WatchFrame>> {
    const isInitial = this.#resumeFrom === "";
    const timeoutSeconds = watchSecondsMin + this.#host.random.int(watchSecondsMin);
    const start = isInitial ? { sendInitialEvents: true } : { resourceVersion: this.#resumeFrom };
    // An answer not older than what was seen: another server of the cluster may lag behind.
    const notOlder = isInitial && this.#newest !== "0" ? { resourceVersion: this.#newest } : {};
    try {
      return await this.#client.watch(this.#kind, { ...this.#options, ...start, ...notOlder, timeoutSeconds, signal });
    } catch (error) {
      if (isInitial && isRefusal(error)) this.#usesWatchList = false;
      throw error;
    }
  }

  async #consume(
    frames: AsyncIterable<WatchFrame>,
    initial: Map<string, Stored<KubeObject>> | undefined,
    watchdog: Watchdog,
    signal: AbortSignal,
  ): Promise<void> {
    let collecting = initial;
    for await (const frame of frames) {
      signal.throwIfAborted();
      watchdog.reset();
      if (frame.type === "ERROR") throw errorOf(frame);
      // The parsing border: all frames but errors carry objects of the watched kind.
      const object = frame.object as Stored<KubeObject>;
      if (collecting === undefined) this.#tell(frame.type, object);
      else if (frame.type !== "BOOKMARK") collect(collecting, frame.type, object);
      else if (object.metadata.annotations?.[initialEventsEnd] === "true") {
        this.#replace([...collecting.values()], object.metadata.resourceVersion);
        collecting = undefined;
      }
    }
    signal.throwIfAborted();
  }

  #tell(type: WatchFrame["type"], object: Stored<KubeObject>): void {
    const { resourceVersion } = object.metadata;
    // Seen already: streams that overlap after a resume, or a server that repeats itself.
    if (compareResourceVersions(resourceVersion, this.#newest) < 0) return;
    if (type === "DELETED") this.#target.remove(object);
    else if (type !== "BOOKMARK") this.#target.set(object);
    this.#silentStreams = 0;
    this.#advance(resourceVersion);
  }

  #note(error: unknown): void {
    if (isExpired(error)) this.#resumeFrom = "";
    // Silent twice from the same place: whatever it is that this stream does not tell, a list does.
    if (this.#silentStreams > 1) this.#resumeFrom = "";
    // One cut stream is daily life; several in a row are for a person to see.
    const level = this.#errors < errorsBeforeWarning ? "debug" : "warn";
    this.#host.log[level]("Watch ended", { resource: this.#kind.plural, resumeFrom: this.#resumeFrom, error });
  }

  async #backOff(signal: AbortSignal): Promise<void> {
    const delayMs = Math.min(backoffMsFirst * 2 ** this.#errors++, backoffMsMax);
    await sleep(this.#host.clock, delayMs * (0.5 + this.#host.random.next() / 2), signal).catch(() => {});
  }
}

/** Answers that say "not now" or "not you", after which the same request may succeed. */
const passingCodes: ReadonlySet<number> = new Set([401, 403, 410, 429]);

/** Whether the server understood the request and does not want it, so that asking otherwise may help. */
function isRefusal(error: unknown): boolean {
  return isApiError(error) && error.code >= 400 && error.code < 500 && !passingCodes.has(error.code);
}

function collect(objects: Map<string, Stored<KubeObject>>, type: WatchFrame["type"], object: Stored<KubeObject>): void {
  const key = `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
  if (type === "DELETED") objects.delete(key);
  else objects.set(key, object);
}

function errorOf(frame: WatchFrame): ApiError {
  return new ApiError(
    isStatus(frame.object) ? frame.object : failure(500, "InternalError", "the watch ended with an error"),
  );
}

/** Items of a typed list carry neither apiVersion nor kind. */
function withTypeOf(object: Stored<KubeObject>, kind: KindRef): Stored<KubeObject> {
  if (object.kind !== undefined && object.apiVersion !== undefined) return object;
  return { ...object, apiVersion: kind.group === "" ? kind.version : `${kind.group}/${kind.version}`, kind: kind.kind };
}

/** Calls back when it was not reset for too long. */
class Watchdog {
  readonly #clock: Host["clock"];
  readonly #bark: () => void;
  #lastMs: number;
  #timer: ReturnType<Host["clock"]["setTimer"]>;

  constructor(clock: Host["clock"], bark: () => void) {
    this.#clock = clock;
    this.#bark = bark;
    this.#lastMs = clock.monotonic();
    this.#timer = this.#arm(silenceMsMax);
  }

  /** Only notes the time: a timer for every frame would cost more than the frame. */
  reset(): void {
    this.#lastMs = this.#clock.monotonic();
  }

  stop(): void {
    this.#timer.cancel();
  }

  #arm(delayMs: number): ReturnType<Host["clock"]["setTimer"]> {
    return this.#clock.setTimer(() => this.#check(), delayMs, { unref: true });
  }

  #check(): void {
    const silentMs = this.#clock.monotonic() - this.#lastMs;
    if (silentMs >= silenceMsMax) this.#bark();
    else this.#timer = this.#arm(silenceMsMax - silentMs);
  }
}
