/** Durations as Alertmanager writes them. */

const units = [
  ["y", 31_536_000_000],
  ["w", 604_800_000],
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
] as const;

/** Years and weeks only for whole ones: 90d is easier to read than 12w6d. */
export function durationText(durationMs: number): string {
  if (durationMs === 0) return "0s";
  let left = durationMs;
  let text = "";
  for (const [unit, unitMs] of units) {
    const isWhole = left % unitMs === 0;
    const many = Math.floor(left / unitMs);
    if (many === 0 || ((unit === "y" || unit === "w") && !isWhole)) continue;
    text += `${many}${unit}`;
    left -= many * unitMs;
  }
  return text;
}
