/**
 * What the process remembers between two observations of one cluster, by a clock that nobody sets. A new
 * process remembers nothing, so it acts later, never sooner.
 */
export interface Memory {
  /** Since when a matter has lasted: `silent NAME UID`, `denied TERM`. */
  readonly since: Readonly<Record<string, number>>;
  /** The last position of the log that the primary reported. */
  readonly lastPosition?: string | undefined;
  /** The timeline that it was on. */
  readonly lastTimeline?: number | undefined;
}

export const noMemory: Memory = { since: {} };

/** Matters that are over are forgotten; new ones begin now. */
export function remember(
  before: Memory,
  {
    matters,
    lastPosition,
    lastTimeline,
    nowMs,
  }: {
    readonly matters: readonly string[];
    readonly lastPosition: string | undefined;
    readonly lastTimeline: number | undefined;
    readonly nowMs: number;
  },
): Memory {
  const since = Object.fromEntries(matters.map((matter) => [matter, before.since[matter] ?? nowMs]));
  return {
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
