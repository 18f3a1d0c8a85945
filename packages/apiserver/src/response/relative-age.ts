/** How long ago a time was, as kubectl prints it: `5m`, `2d3h`. */

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/** Two units while the first is small, one afterwards; a time that lies ahead is `<invalid>`. */
export function relativeAge(since: number, now: number): string {
  const seconds = Math.trunc((now - since) / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 2 * minute) return `${Math.max(0, seconds)}s`;
  if (seconds < 10 * minute) return pair(seconds, minute, "m", 1, "s");
  if (seconds < 3 * hour) return `${Math.trunc(seconds / minute)}m`;
  if (seconds < 8 * hour) return pair(seconds, hour, "h", minute, "m");
  if (seconds < 2 * day) return `${Math.trunc(seconds / hour)}h`;
  if (seconds < 8 * day) return pair(seconds, day, "d", hour, "h");
  if (seconds < 2 * year) return `${Math.trunc(seconds / day)}d`;
  if (seconds < 8 * year) return pair(seconds, year, "y", day, "d");
  return `${Math.trunc(seconds / year)}y`;
}

function pair(seconds: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const rest = Math.trunc((seconds % large) / small);
  return `${Math.trunc(seconds / large)}${largeUnit}${rest === 0 ? "" : `${rest}${smallUnit}`}`;
}
