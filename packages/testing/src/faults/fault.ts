/**
 * The faults that may strike a world, as data. A fault is one line of JSON that a failing run prints and that
 * a user can paste back. Its `kind` is the number in the catalogue (docs/exploring.md). Its `at` says where
 * it strikes, in words that survive changes of code elsewhere.
 */

/**
 * The n-th write (from 1) of an operator that matches `write`: verb, resource and name as in the trace, with
 * `*` for random parts (`POST default/pods/orders-*`, `etcd add http://*:2380`).
 */
export interface WriteSite {
  readonly by: string;
  readonly write: string;
  readonly nth: number;
}

/**
 * The n-th event (from 1) of a resource (`pods`) that an operator's watch would deliver; first lists do not
 * count.
 */
export interface EventSite {
  readonly by: string;
  readonly event: string;
  readonly nth: number;
}

/** A moment of virtual time, in milliseconds from the start of the story. */
export interface TimeSite {
  readonly atMs: number;
}

/** Between two steps of an operator: right after the server executed one of its writes, or at a moment. */
export type StepSite = WriteSite | TimeSite;

/**
 * An object, by resource (`pods`, `persistentvolumeclaims`) and by its position in the order of names at that
 * moment, from 0.
 */
export interface ChildChoice {
  readonly resource: string;
  readonly rank: number;
}

/** A fault of a request that changes something, or of the process that sends it. */
export type WriteFault =
  /** The process dies before the write is sent. */
  | { readonly kind: "A1"; readonly at: WriteSite }
  /** The process dies when it has the answer, before its next request. */
  | { readonly kind: "A2"; readonly at: WriteSite }
  /** The server executes the write, and the process dies before it gets the answer. */
  | { readonly kind: "A3"; readonly at: WriteSite }
  /** From this write on the process dies at every `every`-th write, `times` times. */
  | { readonly kind: "A6"; readonly at: WriteSite; readonly every: number; readonly times: number }
  /** The write never leaves, and the caller gets an error. */
  | { readonly kind: "B1"; readonly at: WriteSite }
  /** The server executes the write, and the answer is lost. */
  | { readonly kind: "B2"; readonly at: WriteSite }
  /** The caller gets a timeout at once, and the server executes the write this much later. */
  | { readonly kind: "B3"; readonly at: WriteSite; readonly lateMs: number }
  /** The server refuses with 409 this many times in a row, as if another writer were faster. */
  | { readonly kind: "B4"; readonly at: WriteSite; readonly times: number }
  /** The server refuses with 429, 500 or 503 this many times in a row; 429 and 503 have a Retry-After. */
  | { readonly kind: "B5"; readonly at: WriteSite; readonly status: 429 | 500 | 503; readonly times: number }
  /** The server refuses with 403 (a quota) for this long. */
  | { readonly kind: "B6"; readonly at: WriteSite; readonly forMs: number };

/**
 * A fault of what an operator observes. The first two strike the stream of one resource, so that caches
 * differ in age.
 */
export type ObservationFault =
  /** This event and all later ones of its resource arrive this much later. */
  | { readonly kind: "C1"; readonly at: EventSite; readonly forMs: number }
  /**
   * The process dies at this event. The next one lists from a server that is `back` events behind, for this
   * long.
   */
  | { readonly kind: "C3"; readonly at: EventSite; readonly back: number; readonly forMs: number }
  /** The running process reconnects to a server that is behind for this long. */
  | { readonly kind: "C4"; readonly at: EventSite; readonly forMs: number }
  /** The watch delivers no event of the resource for this long: a list then shows only the result. */
  | { readonly kind: "C5"; readonly at: EventSite; readonly forMs: number }
  /**
   * The watch breaks before this event; `compacted` makes the resumption fail with 410, so that a list
   * follows.
   */
  | { readonly kind: "C6"; readonly at: EventSite; readonly compacted: boolean }
  /** The watch delivers nothing from this event on, not even bookmarks, and breaks after this long. */
  | { readonly kind: "C7"; readonly at: EventSite; readonly forMs: number }
  /**
   * The watch breaks, and the server refuses the next request with "too large resource version" this many
   * times.
   */
  | { readonly kind: "C8"; readonly at: EventSite; readonly times: number }
  /** The operator lists the resource once more, without any change. */
  | { readonly kind: "C10"; readonly at: EventSite }
  /**
   * As C5, but only deletions wait until an object of the same name exists: a list shows both as one change
   * with another UID.
   */
  | { readonly kind: "C11"; readonly at: EventSite; readonly forMs: number }
  /** Hostile: no correct server does it. An open watch drops the event. */
  | { readonly kind: "C13"; readonly at: EventSite };

/** A fault of a process or of its clocks. */
export type ProcessFault =
  /** Another client holds the lease for this long, in the middle of the process's work. */
  | { readonly kind: "D1"; readonly at: StepSite; readonly forMs: number }
  /** Requests for leases take `delayMs`, for this long. */
  | { readonly kind: "D2"; readonly at: StepSite; readonly delayMs: number; readonly forMs: number }
  /** The process stops (SIGSTOP) and continues without notice of it. */
  | { readonly kind: "D3"; readonly at: StepSite; readonly forMs: number }
  /** The process's wall clock jumps, forward or back. */
  | { readonly kind: "D4"; readonly at: StepSite; readonly byMs: number };

/** What users, other clients and machines do to the cluster. */
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
  /** A user deletes the namespace, and creates it again with the story's objects. */
  | { readonly kind: "E4"; readonly at: StepSite }
  /** A user changes the spec, and reverts it after this long. */
  | {
      readonly kind: "E6";
      readonly at: StepSite;
      readonly patch: Readonly<Record<string, unknown>>;
      readonly backMs: number;
    }
  /** The processes of a pod die. */
  | { readonly kind: "E8"; readonly at: StepSite; readonly rank: number }
  /** A node loses power; it recovers after this long, or never. */
  | { readonly kind: "E9"; readonly at: StepSite; readonly rank: number; readonly backMs?: number }
  /** A claim and its data are lost, with the pod that uses it. */
  | { readonly kind: "E10"; readonly at: StepSite; readonly rank: number }
  /**
   * A user replaces an object that the operator only reads by an equal one. The caches show the deletion at
   * once, and the new object after this long.
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

/**
 * Whether no conforming API server does it. A broken rule after such a fault is no bug of the operator, and
 * is reported apart.
 */
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

/** How long a fault lasts, in milliseconds. */
export function durationOf(fault: Fault): number {
  const { forMs = 0, lateMs = 0, backMs = 0 } = fault as { forMs?: number; lateMs?: number; backMs?: number };
  return forMs + lateMs + backMs;
}
