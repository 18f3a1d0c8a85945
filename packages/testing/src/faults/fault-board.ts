/** What is to strike in one world, where something could, and what did. */
import type { WatchEventType } from "@setpoint/apimachinery";
import type { Clock } from "@setpoint/host";
import {
  type EventSite,
  type Fault,
  type ObservationFault,
  type ProcessFault,
  durationOf,
  siteName,
  type WorldFault,
  type WriteFault,
  type WriteSite,
} from "./fault.ts";
import { sitePattern } from "./site-pattern.ts";

export type StepFault = ProcessFault | WorldFault;

/** A write that was about to be sent. */
export interface RecordedWrite {
  readonly site: WriteSite;
  readonly atMs: number;
  /** Not the API server's: a call to an operand, which knows no status codes. */
  readonly isCall: boolean;
  readonly verb: string;
  /** What the world was like then, when that was asked for. */
  readonly state?: string;
}

/** An event that was about to be delivered. */
export interface RecordedEvent {
  readonly site: EventSite;
  readonly atMs: number;
  readonly type: WatchEventType;
  readonly resourceVersion: string;
  readonly state?: string;
}

/** A fault that has struck. */
export interface Struck {
  readonly fault: Fault;
  readonly atMs: number;
}

const writeKinds: ReadonlySet<string> = new Set(["A1", "A2", "A3", "A6", "B1", "B2", "B3", "B4", "B5", "B6"]);
const observationKinds: ReadonlySet<string> = new Set("C1 C3 C4 C5 C6 C7 C8 C10 C11 C13".split(" "));

export function isWriteFault(fault: Fault): fault is WriteFault {
  return writeKinds.has(fault.kind);
}

export function isObservationFault(fault: Fault): fault is ObservationFault {
  return observationKinds.has(fault.kind);
}

export function isStepFault(fault: Fault): fault is StepFault {
  return !isWriteFault(fault) && !isObservationFault(fault);
}

/** Injects the faults that strike between two steps. */
export interface FaultInjector {
  strike(fault: StepFault): void;
  /** Called when the server executes a late write, which its sender took for lost. */
  late(sentMs: number): void;
}

export class FaultBoard {
  readonly writes: RecordedWrite[] = [];
  readonly events: RecordedEvent[] = [];
  readonly struck: Struck[] = [];
  startedMs = 0;
  /** Nothing strikes, and nothing is recorded. */
  readonly isIdle: boolean;
  readonly #faults: readonly Fault[];
  readonly #bySite = new Map<string, Fault[]>();
  readonly #writeCounts: SiteCounts = new Map();
  readonly #eventCounts: SiteCounts = new Map();
  #injector: FaultInjector | undefined;
  #stateName: (() => string) | undefined;
  #clock: Clock | undefined;
  #overMs = 0;

  /** With `isRead` false nobody will look at what it recorded, and without faults it records nothing. */
  constructor(faults: readonly Fault[] = [], { isRead = true }: { readonly isRead?: boolean } = {}) {
    this.#faults = faults;
    this.isIdle = !isRead && faults.length === 0;
    for (const fault of faults) {
      const site = siteName(fault.at);
      this.#bySite.set(site, [...(this.#bySite.get(site) ?? []), fault]);
    }
  }

  /** The name of the world's state is asked at each site and kept with it. */
  nameStates(stateName: () => string): void {
    this.#stateName = stateName;
  }

  /** The story begins: sites are counted from here, and nothing strikes before. */
  arm(clock: Clock, injector: FaultInjector): void {
    this.#injector = injector;
    this.#clock = clock;
    this.startedMs = clock.monotonic();
    for (const fault of this.#faults)
      if (isStepFault(fault) && "atMs" in fault.at) clock.setTimer(() => this.strike(fault), fault.at.atMs);
  }

  /** Whether these faults strike only with leader election. */
  get needsLease(): boolean {
    return this.#faults.some(({ kind }) => kind === "D1" || kind === "D2" || kind === "D3");
  }

  /** A write is about to be sent; `what` is as in the trace. */
  writing(by: string, what: string, isCall: boolean, atMs: number): WriteEncounter {
    if (this.#injector === undefined || this.isIdle) return noEncounter;
    const write = sitePattern(what);
    const site = { by, write, nth: countOf(this.#writeCounts, by, write) };
    const verb = isCall ? "CALL" : what.slice(0, what.indexOf(" "));
    this.writes.push({ site, atMs, isCall, verb, ...this.#stateNow() });
    const planned = this.#plannedAt(site);
    if (planned === undefined) return noEncounter;
    return { fault: planned.find(isWriteFault), steps: planned.filter(isStepFault) };
  }

  /** An event is about to be delivered. */
  seeing(
    by: string,
    event: string,
    type: WatchEventType,
    resourceVersion: string,
    atMs: number,
  ): readonly ObservationFault[] {
    if (this.#injector === undefined || this.isIdle) return nothing;
    const site = { by, event, nth: countOf(this.#eventCounts, by, event) };
    this.events.push({ site, atMs, type, resourceVersion, ...this.#stateNow() });
    return this.#plannedAt(site)?.filter(isObservationFault) ?? nothing;
  }

  /**
   * The resourceVersion that a server has which is `back` events of the resource behind, or as many as there
   * were.
   */
  versionBefore(by: string, resource: string, back: number): string | undefined {
    const seen = this.events.filter(({ site }) => site.by === by && site.event === resource);
    return (seen.at(-1 - back) ?? seen[0])?.resourceVersion;
  }

  /** Whether everything that strikes at a moment has struck, and whatever takes a while is over. */
  isOver(nowMs: number): boolean {
    return nowMs >= this.#overMs;
  }

  /** As `FaultInjector.late`. */
  late(sentMs: number): void {
    this.#injector?.late(sentMs);
  }

  strike(fault: Fault): void {
    this.struck.push({ fault, atMs: this.#clock?.monotonic() ?? 0 });
    this.#overMs = Math.max(this.#overMs, (this.#clock?.monotonic() ?? 0) + durationOf(fault));
    if (isStepFault(fault)) this.#injector?.strike(fault);
  }

  #stateNow(): { readonly state?: string } {
    return this.#stateName === undefined ? {} : { state: this.#stateName() };
  }

  #plannedAt(site: WriteSite | EventSite): readonly Fault[] | undefined {
    return this.#bySite.size === 0 ? undefined : this.#bySite.get(siteName(site));
  }
}

/** How often there was something, by who asked or saw and by what it was. */
type SiteCounts = Map<string, Map<string, number>>;

function countOf(counts: SiteCounts, by: string, what: string): number {
  let own = counts.get(by);
  if (own === undefined) counts.set(by, (own = new Map<string, number>()));
  const count = (own.get(what) ?? 0) + 1;
  own.set(what, count);
  return count;
}

/** What strikes at a write: at most one fault of the write itself, and what happens right after it. */
export interface WriteEncounter {
  readonly fault: WriteFault | undefined;
  readonly steps: readonly StepFault[];
}

const noEncounter: WriteEncounter = { fault: undefined, steps: [] };
const nothing: readonly ObservationFault[] = [];
