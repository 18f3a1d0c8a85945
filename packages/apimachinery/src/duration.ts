/** Durations in the notation of Go (`1h30m`, `1.5s`, `300ms`), which the API uses in strings. */
import { lookupTable } from "./lookup-table.ts";

const nanosecondsByUnit: Readonly<Record<string, number>> = lookupTable({
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
});

/** About 292 years: Go keeps a duration in 64 bits of nanoseconds. */
const durationNsMax = 2 ** 63;

function invalidDuration(text: string): Error {
  return new Error(`time: invalid duration ${JSON.stringify(text)}`);
}

/** Milliseconds of a Go duration. Errors: `Error` in Go's words. */
export function parseDuration(text: string): number {
  const sign = text.startsWith("-") ? -1 : 1;
  const rest = text.replace(/^[+-]/, "");
  if (rest === "0") return 0;
  if (rest === "") throw invalidDuration(text);
  const part = /(\d+(?:\.\d*)?|\.\d+)([^\d.]*)/y;
  let ns = 0;
  while (part.lastIndex < rest.length) {
    const match = part.exec(rest);
    if (match === null) throw invalidDuration(text);
    const [, amount = "", unit = ""] = match;
    if (unit === "") throw new Error(`time: missing unit in duration ${JSON.stringify(text)}`);
    const size = Object.hasOwn(nanosecondsByUnit, unit) ? nanosecondsByUnit[unit] : undefined;
    if (size === undefined) {
      throw new Error(`time: unknown unit ${JSON.stringify(unit)} in duration ${JSON.stringify(text)}`);
    }
    ns += Number(amount) * size;
  }
  if (ns >= durationNsMax) throw invalidDuration(text);
  return (sign * ns) / 1e6;
}

/** Milliseconds in Go's notation: `1h0m0s`, `1.5s`, `300ms`, `0s`. */
export function formatDuration(durationMs: number): string {
  const sign = durationMs < 0 ? "-" : "";
  const ns = Math.round(Math.abs(durationMs) * 1e6);
  if (ns === 0) return "0s";
  if (ns < 1e3) return `${sign}${ns}ns`;
  if (ns < 1e6) return `${sign}${decimal(ns, 1e3)}µs`;
  if (ns < 1e9) return `${sign}${decimal(ns, 1e6)}ms`;
  const minutes = Math.floor(ns / 60e9);
  const seconds = `${decimal(ns - minutes * 60e9, 1e9)}s`;
  if (minutes === 0) return `${sign}${seconds}`;
  const hours = Math.floor(minutes / 60);
  return hours === 0 ? `${sign}${minutes}m${seconds}` : `${sign}${hours}h${minutes % 60}m${seconds}`;
}

/** A whole number of nanoseconds in a larger unit, without rounding errors or an exponent. */
function decimal(ns: number, unit: number): string {
  const fraction = String(ns % unit).padStart(String(unit).length - 1, "0");
  const trimmed = fraction.replace(/0+$/, "");
  return `${Math.floor(ns / unit)}${trimmed === "" ? "" : `.${trimmed}`}`;
}
