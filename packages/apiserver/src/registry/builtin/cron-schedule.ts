/** Schedules and time zones of CronJobs, as the library of the CronJob controller reads them. */

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const months = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const days = "sun mon tue wed thu fri sat".split(" ");
/** Minute, hour, day of the month, month, day of the week. */
const fields: readonly Bounds[] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: months },
  { min: 0, max: 6, names: days },
];
const descriptors: ReadonlySet<string> = new Set(
  "@yearly @annually @monthly @weekly @daily @midnight @hourly".split(" "),
);
const every = "@every ";
const goDuration = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const zoneInSchedule = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";

/** What is wrong with a schedule, in the library's words. */
export function scheduleProblem(schedule: string): string | undefined {
  if (schedule.includes("TZ")) return zoneInSchedule;
  if (schedule.startsWith("@")) return descriptorProblem(schedule);
  const parts = schedule.split(/\s+/).filter((part) => part !== "");
  if (parts.length !== fields.length)
    return `expected exactly ${fields.length} fields, found ${parts.length}: [${parts.join(" ")}]`;
  for (const [at, bounds] of fields.entries()) {
    const problem = fieldProblem(parts[at] ?? "", bounds);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function descriptorProblem(schedule: string): string | undefined {
  if (descriptors.has(schedule)) return undefined;
  if (!schedule.startsWith(every)) return `unrecognized descriptor: ${schedule}`;
  const duration = schedule.slice(every.length);
  if (goDuration.test(duration)) return undefined;
  return `failed to parse duration ${schedule}: time: invalid duration ${JSON.stringify(duration)}`;
}

function fieldProblem(text: string, bounds: Bounds): string | undefined {
  for (const range of text.split(",")) {
    const problem = range === "" ? undefined : rangeProblem(range, bounds);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** `*`, `?`, `5`, `mon-fri`, each with an optional `/step`. */
function rangeProblem(range: string, bounds: Bounds): string | undefined {
  const [limits = "", step, ...tooManySteps] = range.split("/");
  const [low = "", high, ...tooMany] = limits.split("-");
  if (tooMany.length > 0) return `too many hyphens: ${range}`;
  if (tooManySteps.length > 0) return `too many slashes: ${range}`;
  if (step !== undefined && numberOf(step, { ...bounds, names: [] }) === undefined) return notNumber(step);
  if (step !== undefined && Number(step) === 0) return `step of range should be a positive number: ${range}`;
  if (low === "*" || low === "?") return undefined;
  const first = numberOf(low, bounds);
  if (first === undefined) return notNumber(low);
  const last = high === undefined ? (step === undefined ? first : bounds.max) : numberOf(high, bounds);
  return last === undefined ? notNumber(high ?? "") : limitsProblem(first, last, bounds, range);
}

function limitsProblem(first: number, last: number, { min, max }: Bounds, range: string): string | undefined {
  if (first < min) return `beginning of range (${first}) below minimum (${min}): ${range}`;
  if (last > max) return `end of range (${last}) above maximum (${max}): ${range}`;
  return first > last ? `beginning of range (${first}) beyond end of range (${last}): ${range}` : undefined;
}

function numberOf(text: string, { names, min }: Bounds): number | undefined {
  const named = names.indexOf(text.toLowerCase());
  if (named !== -1) return named + min;
  return isWhole(text) && Number(text) < 2 ** 63 ? Number(text) : undefined;
}

function isWhole(text: string): boolean {
  return /^\+?\d+$/.test(text);
}

function notNumber(text: string): string {
  if (/^-\d+$/.test(text)) return `negative number (${Number(text)}) not allowed: ${text}`;
  const why = isWhole(text) ? "value out of range" : "invalid syntax";
  return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: ${why}`;
}

/** What is wrong with a time zone; the names are those of the IANA. */
export function zoneProblem(zone: string): string | undefined {
  if (zone === "") return "timeZone must be nil or non-empty string";
  if (zone.toLowerCase() === "local")
    return "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
  return isZone(zone) ? undefined : `unknown time zone ${zone}`;
}

function isZone(zone: string): boolean {
  // Offsets such as `+01:00` are no names; upstream's names have their capitals.
  if (!/^[A-Z]/.test(zone)) return false;
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}
