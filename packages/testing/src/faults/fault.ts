/**
 * The faults that may strike a world, as data: a fault is one line of JSON that a failing run prints and that can be pasted back.
 * Its `kind` is the number in the catalogue (docs/exploring.md); its `at` says where it strikes, in words that survive changes of
 * code elsewhere.
 */

/**
 * The n-th write (from 1) of an operator that looks like `write`: verb, resource and name as the trace has them, with `*` for what
 * chance decides (`POST default/pods/orders-*`, `etcd add http://*:2380`).
 */
export interface WriteSite {
  readonly by: string;
  readonly write: string;
  readonly nth: number;
}

/** The n-th event (from 1) of a resource (`pods`) that an operator's watch would deliver, first lists not counted. */
export interface EventSite {
  readonly by: string;
  readonly event: string;
  readonly nth: number;
}

/** A moment of virtual time, in milliseconds from the start of the story. */
export interface TimeSite {
  readonly atMs: number;
}

/** Between two steps of an operator: right after one of its writes has been done, or at a moment. */
export type StepSite = WriteSite | TimeSite;

/** An object, by resource (`pods`, `persistentvolumeclaims`) and by its rank in the order of names at that moment, from 0. */
export interface ChildChoice {
  readonly resource: string;
  readonly rank: number;
}

/** What befalls a request that changes something, or the process that sends it. */
export type WriteFault =
  /** The process dies before the write is sent. */
  | { readonly kind: "A1"; readonly at: WriteSite }
  /** The process dies when it has the answer, before it asks for anything else. */
  | { readonly kind: "A2"; readonly at: WriteSite }
  /** The write is done and the process dies before the answer comes. */
  | { readonly kind: "A3"; readonly at: WriteSite }
  /** From this write on the process dies at every `every`-th write, `times` times. */
  | { readonly kind: "A6"; readonly at: WriteSite; readonly every: number; readonly times: number }
  /** The write never leaves, and the caller gets an error. */
  | { readonly kind: "B1"; readonly at: WriteSite }
  /** The write is done, and its answer is lost. */
  | { readonly kind: "B2"; readonly at: WriteSite }
  /** The caller hears of a timeout at once, and the write is done so much later. */
  | { readonly kind: "B3"; readonly at: WriteSite; readonly lateMs: number }
  /** Refused with 409 so many times in a row, as if another writer were faster. */
  | { readonly kind: "B4"; readonly at: WriteSite; readonly times: number }
  /** Refused with 429, 500 or 503 so many times in a row; 429 and 503 say when to come back. */
  | { readonly kind: "B5"; readonly at: WriteSite; readonly status: 429 | 500 | 503; readonly times: number }
  /** Refused with 403 (a quota) for so long. */
  | { readonly kind: "B6"; readonly at: WriteSite; readonly forMs: number };

/** What befalls that which an operator sees. The first two strike the stream of one resource, so that caches lie apart. */
export type ObservationFault =
  /** This event and what follows of this resource comes so much later. */
  | { readonly kind: "C1"; readonly at: EventSite; readonly forMs: number }
  /** The process dies at this event; the next one lists from a server that is `back` events behind, for so long. */
  | { readonly kind: "C3"; readonly at: EventSite; readonly back: number; readonly forMs: number }
  /** The living process is reconnected to a server that is behind for so long. */
  | { readonly kind: "C4"; readonly at: EventSite; readonly forMs: number }
  /** This event and all of its resource for so long are never told one by one: a list shows only how it ended. */
  | { readonly kind: "C5"; readonly at: EventSite; readonly forMs: number }
  /** The watch breaks before this event; `compacted` makes the resumption fail with 410, so that a list follows. */
  | { readonly kind: "C6"; readonly at: EventSite; readonly compacted: boolean }
  /** The watch falls silent before this event without a word, not even bookmarks, and breaks after so long. */
  | { readonly kind: "C7"; readonly at: EventSite; readonly forMs: number }
  /** The watch breaks, and the next request is refused with "too large resource version" so many times. */
  | { readonly kind: "C8"; readonly at: EventSite; readonly times: number }
  /** Everything of the resource is listed once more, without any change. */
  | { readonly kind: "C10"; readonly at: EventSite }
  /** As C5, but only deletions wait, until the namesake is there: both are seen as one change with another UID. */
  | { readonly kind: "C11"; readonly at: EventSite; readonly forMs: number }
  /** Hostile: no correct server does it. The event is dropped from an open watch. */
  | { readonly kind: "C13"; readonly at: EventSite };

/** What befalls a process and its time. */
export type ProcessFault =
  /** Another client holds the lease for this long, in the middle of the process's work. */
  | { readonly kind: "D1"; readonly at: StepSite; readonly forMs: number }
  /** Requests for leases take so long, for so long. */
  | { readonly kind: "D2"; readonly at: StepSite; readonly delayMs: number; readonly forMs: number }
  /** The process stands still (SIGSTOP) and goes on as if nothing had been. */
  | { readonly kind: "D3"; readonly at: StepSite; readonly forMs: number }
  /** The process's wall clock jumps, forward or back. */
  | { readonly kind: "D4"; readonly at: StepSite; readonly byMs: number };

/** What others do to the cluster. */
export type WorldFault =
  /** Another client deletes a child. */
  | { readonly kind: "E1"; readonly at: StepSite; readonly child: ChildChoice }
  /**
   * Another client edits a child. `own` changes a field that the operator set: a label or, with `of`, a value
   * of its spec. Otherwise the client adds a label and an annotation.
   */
  | {
      readonly kind: "E2";
      readonly at: StepSite;
      readonly child: ChildChoice;
      readonly own: boolean;
      readonly of?: "spec";
    }
  /** A user deletes the story's objects and removes their finalizers, then creates them again. */
  | { readonly kind: "E3"; readonly at: StepSite }
  /** The namespace is terminated and made again with the story's objects. */
  | { readonly kind: "E4"; readonly at: StepSite }
  /** The spec is changed and changed back after so long. */
  | {
      readonly kind: "E6";
      readonly at: StepSite;
      readonly patch: Readonly<Record<string, unknown>>;
      readonly backMs: number;
    }
  /** The processes of a pod die. */
  | { readonly kind: "E8"; readonly at: StepSite; readonly rank: number }
  /** A node loses power; it comes back after so long, or never. */
  | { readonly kind: "E9"; readonly at: StepSite; readonly rank: number; readonly backMs?: number }
  /** A claim and what is on it are lost, with the pod that uses it. */
  | { readonly kind: "E10"; readonly at: StepSite; readonly rank: number }
  /**
   * A user replaces an object that the operator only reads by an equal one. The caches show the deletion at once, and the new object
   * after so long.
   */
  | { readonly kind: "E11"; readonly at: StepSite; readonly child: ChildChoice; readonly forMs: number };

/** One fault of a schedule, with the place where it strikes. */
export type Fault = WriteFault | ObservationFault | ProcessFault | WorldFault;

/** The code of a fault, as schedules and reports name it. */
export type FaultKind = Fault["kind"];

/** What each kind is called in reports. */
export const faultNames: Readonly<Record<FaultKind, string>> = {
  A1: "crash before the write",
  A2: "crash after the answer",
  A3: "crash between write and answer",
  A6: "crash loop",
  B1: "request not sent",
  B2: "answer lost",
  B3: "timeout, done later",
  B4: "conflict",
  B5: "server busy or broken",
  B6: "refused by a quota",
  C1: "events late",
  C3: "older state after a restart",
  C4: "older server in mid-life",
  C5: "changes never seen",
  C6: "watch broken",
  C7: "watch silent",
  C8: "resource version too large",
  C10: "everything told again",
  C11: "deletion and namesake seen as one change",
  C13: "event dropped",
  D1: "lease lost",
  D2: "lease renewed slowly",
  D3: "process paused",
  D4: "clock jumps",
  E1: "child deleted by hand",
  E2: "child edited by hand",
  E3: "finalizers removed by force",
  E4: "namespace terminated",
  E6: "spec changed and changed back",
  E8: "processes of a pod die",
  E9: "node lost",
  E10: "volume lost",
  E11: "object that is only read replaced",
};

/** What no conforming API server does: an alarm after it is not a bug of the operator, and is reported apart. */
export function isHostile({ kind }: Fault): boolean {
  return kind === "C13";
}

/** One line: what strikes, and where. */
export function describeFault(fault: Fault): string {
  const { kind, at, ...rest } = fault;
  const details = Object.entries(rest).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return [`${kind} ${faultNames[kind]}`, siteName(at), ...details].join(", ");
}

/** A site in one word group; equal for equal sites. */
export function siteName(site: WriteSite | EventSite | TimeSite): string {
  if ("atMs" in site) return `at ${site.atMs / 1_000} s`;
  if ("write" in site) return `${site.by}: ${site.write} #${site.nth}`;
  return `${site.by}: event of ${site.event} #${site.nth}`;
}

/** How long a fault goes on by itself, in milliseconds. */
export function durationOf(fault: Fault): number {
  const { forMs = 0, lateMs = 0, backMs = 0 } = fault as { forMs?: number; lateMs?: number; backMs?: number };
  return forMs + lateMs + backMs;
}
