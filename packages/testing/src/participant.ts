/** A client in a world. Its requests are counted, and faults strike them; it may die and come back. */
import type { ApiResponse } from "@setpoint/apimachinery";
import type { WriteFault } from "./faults/fault.ts";
import { Views } from "./faults/observed-watch.ts";
import { busyAnswer, conflictAnswer, quotaAnswer } from "./faults/refusals.ts";
import { sitePattern } from "./faults/site-pattern.ts";
import type { Pausable } from "./pausable.ts";
import { type Call, type Incarnations, type ParticipantOptions, ProcessLink } from "./process-link.ts";

/**
 * What befalls a write: `crash` ends the process before the write is sent or after it is done, `lose` loses
 * the answer of a write that is done.
 */
export type Strike = { readonly kind: "crash"; readonly when: "before" | "after" } | { readonly kind: "lose" };

/** Writes that a server refuses for a while. */
interface Refusing {
  readonly pattern: string;
  readonly answer: ApiResponse;
  times: number;
  readonly untilMs: number;
}

/** Counts and faults outlive the participant's processes. */
export class Participant implements Incarnations {
  readonly name: string;
  /** Faults by the number of the write, from 1. */
  readonly faults: Map<number, Strike> = new Map();
  readonly views: Views | undefined;
  writeCount = 0;
  readonly #options: ParticipantOptions;
  #refusing: Refusing[] = [];
  #slowLeases = { delayMs: 0, untilMs: 0 };
  #crashLoop = { every: 0, left: 0, next: 0 };

  constructor(options: ParticipantOptions) {
    this.name = options.name;
    this.#options = options;
    const { name, clock, board, onlooker } = options;
    const isWatched = board !== undefined && !(board.isIdle && onlooker === undefined);
    this.views = isWatched ? new Views({ name, clock, board, onlooker }) : undefined;
  }

  /** A new life. `onCrash` is called when a fault ends it; what it hears waits while `clock` is paused. */
  process(onCrash: () => void = () => {}, clock?: Pausable): ProcessLink {
    return new ProcessLink(this, this.#options, onCrash, clock);
  }

  nextWrite(call: Call): ReturnType<Incarnations["nextWrite"]> {
    const { board, clock } = this.#options;
    const strike = this.faults.get(++this.writeCount);
    const met = board?.writing(this.name, call.what, call.request === undefined, clock.monotonic());
    const fault = this.#looped() ?? met?.fault ?? (strike === undefined ? undefined : faultOf(strike));
    if (met?.fault !== undefined) board?.strike(met.fault);
    if (met?.fault?.kind === "A6") this.#crashLoop = { every: met.fault.every, left: met.fault.times - 1, next: 0 };
    return { fault, steps: met?.steps ?? [] };
  }

  refuse({ what }: Call, fault: WriteFault): void {
    const now = this.#options.clock.monotonic();
    const pattern = sitePattern(what);
    if (fault.kind === "B4")
      this.#refusing.push({ pattern, answer: conflictAnswer(what), times: fault.times, untilMs: Infinity });
    if (fault.kind === "B5")
      this.#refusing.push({ pattern, answer: busyAnswer(fault.status), times: fault.times, untilMs: Infinity });
    if (fault.kind === "B6")
      this.#refusing.push({ pattern, answer: quotaAnswer(what), times: Infinity, untilMs: now + fault.forMs });
  }

  refusalOf({ what, kind }: Call): ApiResponse | undefined {
    if (kind !== "write" || this.#refusing.length === 0) return undefined;
    const now = this.#options.clock.monotonic();
    this.#refusing = this.#refusing.filter(({ times, untilMs }) => times > 0 && untilMs > now);
    const pattern = sitePattern(what);
    const found = this.#refusing.find((each) => each.pattern === pattern);
    if (found === undefined) return undefined;
    found.times--;
    return found.answer;
  }

  get leaseDelayMs(): number {
    const { delayMs, untilMs } = this.#slowLeases;
    return this.#options.clock.monotonic() < untilMs ? delayMs : 0;
  }

  slowLeases(delayMs: number, forMs: number): void {
    this.#slowLeases = { delayMs, untilMs: this.#options.clock.monotonic() + forMs };
  }

  /** A crash loop goes on over the process's lives. */
  #looped(): WriteFault | undefined {
    const loop = this.#crashLoop;
    if (loop.left <= 0) return undefined;
    loop.next = (loop.next + 1) % loop.every;
    if (loop.next !== 0) return undefined;
    loop.left--;
    return { kind: "A1", at: nowhere };
  }
}

const nowhere = { by: "", write: "", nth: 0 };

function faultOf(strike: Strike): WriteFault {
  if (strike.kind === "lose") return { kind: "B2", at: nowhere };
  return { kind: strike.when === "before" ? "A1" : "A3", at: nowhere };
}
