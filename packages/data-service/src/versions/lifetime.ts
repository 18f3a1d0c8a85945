/** How long an entry of a catalogue may be used: the days on which it comes, ages and goes; pure. */

/** Dates are days, `2026-01-31`. */
export interface Lifetime {
  readonly released?: string | undefined;
  /** From this day on a newer one should be used. */
  readonly deprecated?: string | undefined;
  /** From this day on no instance may be brought to it. */
  readonly withdrawn?: string | undefined;
  /** Why it was withdrawn, such as the number of a vulnerability. */
  readonly reason?: string | undefined;
}

export type LifetimeState = "Unknown" | "Available" | "Deprecated" | "Withdrawn";

/** Where an entry stands on a day. */
export interface LifetimeReport {
  readonly state: LifetimeState;
  /** A sentence for the status; undefined when there is nothing to say. */
  readonly message?: string | undefined;
}

/** `subject` names the entry in messages. */
export function lifetimeReport(subject: string, entry: Lifetime | undefined, nowMs: number): LifetimeReport {
  if (entry === undefined) return { state: "Unknown" };
  const { deprecated, withdrawn, reason } = entry;
  const because = reason === undefined ? "" : `: ${reason}`;
  if (isPast(withdrawn, nowMs))
    return { state: "Withdrawn", message: `${subject} was withdrawn on ${withdrawn}${because}` };
  if (!isPast(deprecated, nowMs)) return { state: "Available" };
  const end = withdrawn === undefined ? "" : `, and will be withdrawn on ${withdrawn}`;
  return { state: "Deprecated", message: `${subject} has been deprecated since ${deprecated}${end}${because}` };
}

/** Whether a day has begun, in UTC. */
function isPast(day: string | undefined, nowMs: number): boolean {
  return day !== undefined && Date.parse(day) <= nowMs;
}
