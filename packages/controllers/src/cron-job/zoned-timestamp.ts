/**
 * A time as RFC 3339 writes it, with the offset of a time zone: `2026-01-01T01:00:00+01:00`; `Z` without one.
 */
export function zonedTimestamp(ms: number, timeZone?: string): string {
  const whole = new Date(Math.floor(ms / 1_000) * 1_000);
  const offset = timeZone === undefined ? "" : offsetOf(whole, timeZone);
  if (offset === "") return `${whole.toISOString().slice(0, 19)}Z`;
  const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4, 6));
  const shiftMs = minutes * 60_000 * (offset.startsWith("-") ? -1 : 1);
  return `${new Date(whole.getTime() + shiftMs).toISOString().slice(0, 19)}${offset}`;
}

/** `+01:00`; empty in UTC. */
function offsetOf(date: Date, timeZone: string): string {
  const parts = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" }).formatToParts(date);
  const name = parts.find(({ type }) => type === "timeZoneName")?.value ?? "GMT";
  return name.replace("GMT", "").replace("+00:00", "");
}
