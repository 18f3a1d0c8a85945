/** Durations as Prometheus writes them: `1h30m`, `15s`, `1w`. */

const pattern = /^(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;
const dayMs = 86_400_000;
const unitsMs = [365 * dayMs, 7 * dayMs, dayMs, 3_600_000, 60_000, 1_000, 1];

/** Undefined when the text is no duration. */
export function durationMs(text: string): number | undefined {
  if (text === "0") return 0;
  const parts = text === "" ? null : pattern.exec(text);
  return parts === null
    ? undefined
    : unitsMs.reduce((sum, unitMs, index) => sum + Number(parts[index + 1] ?? 0) * unitMs, 0);
}
