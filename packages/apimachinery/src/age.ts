/** Ages in the format of kubectl's tables. */

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/**
 * A duration in the precision that its length deserves: `90s`, `5m30s`, `3d4h`, `2y40d`; `<invalid>` when it
 * is negative.
 */
export function formatHumanDuration(durationMs: number): string {
  const seconds = Math.trunc(durationMs / secondMs);
  // Clocks of machines differ a little; up to two seconds count as now.
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(durationMs / minuteMs);
  if (minutes < 10) return withRest(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(durationMs / hourMs);
  if (hours < 8) return withRest(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (hours < 24 * 8) return withRest(days, "d", hours % 24, "h");
  if (hours < 24 * 365 * 2) return `${days}d`;
  const years = Math.trunc(days / 365);
  if (hours < 24 * 365 * 8) return withRest(years, "y", days % 365, "d");
  return `${years}y`;
}

function withRest(amount: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${amount}${unit}` : `${amount}${unit}${rest}${restUnit}`;
}

/** How long ago a time of the API was, for an Age column; `<unknown>` without a time. */
export function formatAge(timestamp: string | null | undefined, nowMs: number): string {
  const then = timestamp === undefined || timestamp === null ? Number.NaN : Date.parse(timestamp);
  return Number.isNaN(then) ? "<unknown>" : formatHumanDuration(nowMs - then);
}
