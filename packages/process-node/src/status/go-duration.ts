/** A duration as Go writes it, in whole milliseconds: `250ms`, `1.5s`, `5m0s`. */
export function goDuration(ms: number): string {
  const whole = Math.round(ms);
  if (whole > 0 && whole < 1_000) return `${whole}ms`;
  const minutes = Math.floor(whole / 60_000);
  const seconds = (whole % 60_000) / 1_000;
  const hours = Math.floor(minutes / 60);
  const parts = [hours > 0 ? `${hours}h` : "", minutes > 0 ? `${minutes % 60}m` : "", `${seconds}s`];
  return parts.join("");
}
