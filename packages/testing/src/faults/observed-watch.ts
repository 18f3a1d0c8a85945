/** The watches of one participant: where faults of observation strike. */
import type { ApiRequest, ApiResponse, WatchFrame } from "@setpoint/apimachinery";
import { type Clock, sleep } from "@setpoint/host";
import type { Onlooker } from "../onlooker.ts";
import { resourceOf } from "../request-path.ts";
import type { ObservationFault } from "./fault.ts";
import type { FaultBoard } from "./fault-board.ts";
import { expiredAnswer, tooLargeVersionAnswer } from "./refusals.ts";

export interface ViewOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly board: FaultBoard;
  readonly onlooker: Onlooker | undefined;
}

const initialEventsEnd = "k8s.io/initial-events-end";
/** A stream that is held looks again this often whether it may go on. */
const heldLookMs = 100;

/** What one participant can see of one resource, over all its streams and processes. */
interface ResourceView {
  /** Streams tell nothing before. */
  heldUntilMs: number;
  /** Lists that take any version are answered by `oldVersion` before. */
  oldUntilMs: number;
  /** New streams and lists are refused before. */
  closedUntilMs: number;
  /** New streams are refused with "too large resource version" so often. */
  tooLarge: number;
  /** The next resumption is refused with 410. */
  isCompacted: boolean;
  /** Lists that ask for any version get this one, while held. */
  oldVersion: string | undefined;
  /** How long streams are held after the next deletion that they show. */
  heldAfterDeletionMs: number;
}

/** What a crash is to the process that a fault of observation ends. */
type Crash = () => void;

export class Views {
  readonly #options: ViewOptions;
  readonly #views = new Map<string, ResourceView>();

  constructor(options: ViewOptions) {
    this.#options = options;
  }

  /** After the next deletion of the resource nothing of it is shown for so long. */
  holdAfterDeletion(resource: string, forMs: number): void {
    this.#view(resource).heldAfterDeletionMs = forMs;
  }

  /** The answer that a fault gives instead of the server. */
  refuse(request: ApiRequest): ApiResponse | undefined {
    const { query } = request;
    if (this.#views.size === 0 || request.method !== "GET") return undefined;
    const view = this.#views.get(resourceOf(request.path));
    if (view === undefined) return undefined;
    if (this.#now < view.closedUntilMs) throw new Error("connect ECONNREFUSED");
    if (query?.["watch"] === undefined) return undefined;
    if (view.tooLarge > 0) {
      view.tooLarge--;
      return tooLargeVersionAnswer();
    }
    if (!view.isCompacted || query["sendInitialEvents"] !== undefined) return undefined;
    view.isCompacted = false;
    return expiredAnswer();
  }

  /** A list that takes any version is answered by a server that lags behind, while one does. */
  aged(request: ApiRequest): ApiRequest {
    const isAny = request.query?.["resourceVersion"] === "0" && request.query["watch"] === undefined;
    if (!isAny) return request;
    const view = this.#views.get(resourceOf(request.path));
    if (view?.oldVersion === undefined || this.#now >= view.oldUntilMs) return request;
    const { limit: _limit, ...query } = request.query ?? {};
    return {
      ...request,
      query: { ...query, resourceVersion: view.oldVersion, resourceVersionMatch: "Exact" },
    };
  }

  async *frames(request: ApiRequest, inner: AsyncIterable<WatchFrame>, crash: Crash): AsyncGenerator<WatchFrame> {
    const resource = resourceOf(request.path);
    let isTold = request.query?.["sendInitialEvents"] === undefined;
    for await (const frame of inner) {
      await this.#held(resource);
      if (isTold && isEvent(frame)) {
        const end = this.#strike(resource, frame, crash);
        if (end === "hold") await this.#held(resource);
        if (end === "break" || end === "tell and break") {
          if (end === "tell and break") yield this.#tell(resource, frame);
          throw new Error("the connection broke");
        }
        if (end === "drop") continue;
      }
      if (isInitialEnd(frame)) isTold = true;
      yield isEvent(frame) ? this.#tell(resource, frame) : frame;
    }
  }

  get #now(): number {
    return this.#options.clock.monotonic();
  }

  #tell(resource: string, frame: WatchFrame): WatchFrame {
    const { name, onlooker } = this.#options;
    const { metadata } = frame.object as EventObject;
    const view = this.#views.get(resource);
    if (frame.type === "DELETED" && view !== undefined && view.heldAfterDeletionMs > 0) {
      view.heldUntilMs = this.#now + view.heldAfterDeletionMs;
      view.heldAfterDeletionMs = 0;
    }
    onlooker?.saw({
      atMs: this.#now,
      who: name,
      resource,
      type: frame.type,
      name: metadata.name,
      resourceVersion: metadata.resourceVersion,
    });
    return frame;
  }

  async #held(resource: string): Promise<void> {
    const { clock } = this.#options;
    for (;;) {
      const leftMs = (this.#views.get(resource)?.heldUntilMs ?? 0) - clock.monotonic();
      if (leftMs <= 0) return;
      await sleep(clock, Math.min(leftMs, heldLookMs));
    }
  }

  #strike(resource: string, frame: WatchFrame, crash: Crash): "tell" | "hold" | "break" | "tell and break" | "drop" {
    const { board, name } = this.#options;
    const { resourceVersion } = (frame.object as EventObject).metadata;
    const [fault] = board.seeing(name, resource, frame.type, resourceVersion, this.#now);
    if (fault === undefined) return "tell";
    board.strike(fault);
    return this.#befall(fault, resource, crash);
  }

  #befall(fault: ObservationFault, resource: string, crash: Crash): "hold" | "break" | "tell and break" | "drop" {
    const view = this.#view(resource);
    const now = this.#now;
    switch (fault.kind) {
      case "C1":
        view.heldUntilMs = now + fault.forMs;
        return "hold";
      case "C3":
        view.heldUntilMs = now + fault.forMs;
        // Consistent reads wait until a server has caught up; those that take any version may ask the slowest
        // of all for longer.
        view.oldUntilMs = view.heldUntilMs + fault.forMs;
        view.oldVersion = this.#options.board.versionBefore(this.#options.name, resource, fault.back);
        crash();
        return "break";
      case "C4":
        view.heldUntilMs = now + fault.forMs;
        view.tooLarge = 1;
        return "break";
      case "C5":
      case "C11":
        view.closedUntilMs = now + fault.forMs;
        view.isCompacted = true;
        return "break";
      case "C6":
        view.isCompacted = fault.compacted;
        return "break";
      case "C7":
        view.heldUntilMs = now + fault.forMs;
        return "hold";
      case "C8":
        view.tooLarge = fault.times;
        return "break";
      case "C10":
        view.isCompacted = true;
        return "tell and break";
      case "C13":
        return "drop";
    }
  }

  #view(resource: string): ResourceView {
    const known = this.#views.get(resource);
    if (known !== undefined) return known;
    const view = {
      heldUntilMs: 0,
      oldUntilMs: 0,
      closedUntilMs: 0,
      tooLarge: 0,
      isCompacted: false,
      oldVersion: undefined,
      heldAfterDeletionMs: 0,
    };
    this.#views.set(resource, view);
    return view;
  }
}

/** The parsing border: the frames of events carry objects. */
interface EventObject {
  readonly metadata: {
    readonly name: string;
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

function isEvent({ type }: WatchFrame): boolean {
  return type === "ADDED" || type === "MODIFIED" || type === "DELETED";
}

function isInitialEnd({ type, object }: WatchFrame): boolean {
  return type === "BOOKMARK" && (object as EventObject).metadata.annotations?.[initialEventsEnd] === "true";
}
