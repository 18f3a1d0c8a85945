/**
 * What the process remembers between two observations of one cluster, by a clock that nobody sets. A new
 * process remembers nothing, so it acts later, never sooner.
 */
export interface Memory {
  /** Since when a matter has lasted: `silent NAME UID`, `denied TERM by NAME`. */
  readonly since: Readonly<Record<string, number>>;
  /** The last moment of each instance's own clock, by the UID of its pod; empty: of an older release. */
  readonly moments?: Readonly<Record<string, string>> | undefined;
  /** The latest moment from which this process's consent may count for an instance, by its name. */
  readonly consents?: Readonly<Record<string, number>> | undefined;
  /** The last position of the log that the primary reported. */
  readonly lastPosition?: string | undefined;
  /** The timeline that it was on. */
  readonly lastTimeline?: number | undefined;
}

export const noMemory: Memory = { since: {} };

/** What an observation adds. */
export interface Remembered extends Omit<Memory, "since"> {
  /** The matters that go on, and since when at the latest. */
  readonly matters: ReadonlyMap<string, number>;
}

/** Matters that are over are forgotten; those that go on keep their beginning. */
export function remember(before: Memory, { matters, lastPosition, lastTimeline, ...rest }: Remembered): Memory {
  const since = Object.fromEntries([...matters].map(([matter, atMs]) => [matter, before.since[matter] ?? atMs]));
  return {
    ...rest,
    since,
    lastPosition: lastPosition ?? before.lastPosition,
    lastTimeline: lastTimeline ?? before.lastTimeline,
  };
}

/** For how long a matter has lasted; undefined when there is none. */
export function lastingMs({ since }: Memory, matter: string, nowMs: number): number | undefined {
  const began = since[matter];
  return began === undefined ? undefined : nowMs - began;
}
