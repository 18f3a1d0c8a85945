/** The times of a cron line: pure, from the line, its time zone and a moment. */
import { SetpointError } from "@setpoint/apimachinery";
import { Cron } from "croner";
import { errCronInvalid } from "../errors.ts";

/** Options of a cron schedule. */
export interface CronOptions {
  /** An IANA name such as "Europe/Berlin"; default "UTC", whatever the machine's time zone is. */
  readonly timeZone?: string;
}

/**
 * What `nextRun` calls. The public method also reads the real time, which this result does not depend on and
 * which a simulated world refuses.
 */
interface PureCron {
  _nextTarget(after: Date, now: Date): Date | null;
}

/** Any moment will do: a cron line has no year, so one that never fires after this moment never fires. */
const anyMomentMs = Date.UTC(2026, 0, 1);

/**
 * A cron line with five fields (minute, hour, day of the month, month, day of the week), or six with the
 * second first, or a nickname such as `@daily`. Errors: `ERR_CRON_INVALID` for an invalid line, an unknown
 * time zone, and a line that never fires.
 */
export class CronSchedule {
  readonly expression: string;
  readonly timeZone: string;
  readonly #cron: Cron;

  constructor(expression: string, { timeZone = "UTC" }: CronOptions = {}) {
    this.expression = expression;
    this.timeZone = timeZone;
    checkTimeZone(expression, timeZone);
    this.#cron = parse(expression, timeZone);
    // Also refuses a line that never fires.
    this.nextAfter(anyMomentMs);
  }

  /** The first time of the line after `afterMs`, in milliseconds since the epoch. */
  nextAfter(afterMs: number): number {
    const after = new Date(afterMs);
    const next = (this.#cron as unknown as PureCron)._nextTarget(after, after);
    if (next !== null) return next.getTime();
    throw invalid(this.expression, "it never fires: no date has such a day, month and day of the week");
  }
}

/**
 * The next time of a cron line after a moment, in milliseconds since the epoch. For a reconcile that decides
 * from the status whether work is due: `nextCronRun("0 3 * * *", lastBackupMs) <= clock.now()`.
 */
export function nextCronRun(expression: string, afterMs: number, options: CronOptions = {}): number {
  return new CronSchedule(expression, options).nextAfter(afterMs);
}

function parse(expression: string, timezone: string): Cron {
  const problem = shapeProblem(expression);
  if (problem !== undefined) throw invalid(expression, problem);
  try {
    return new Cron(expression, { timezone, mode: "5-or-6-parts", paused: true });
  } catch (error) {
    const problem = error instanceof Error ? error.message.replace(/^Cron(Pattern|Date): /u, "") : String(error);
    throw invalid(expression, problem);
  }
}

/** The parser would also take a date, which fires once, and any white space; `cronLine()` takes neither. */
function shapeProblem(expression: string): string | undefined {
  if (/[^\S ]/u.test(expression)) return "its fields are separated by spaces alone";
  const fields = expression.split(" ").filter((each) => each !== "");
  if (fields[0]?.startsWith("@") === true) return undefined;
  const found = fields.length === 1 ? "one field" : `${fields.length} fields`;
  return fields.length >= 5 ? undefined : `it has ${found}; expected five: minute, hour, day, month, day of the week`;
}

function checkTimeZone(expression: string, timeZone: string): void {
  try {
    Intl.DateTimeFormat("en", { timeZone });
  } catch {
    throw invalid(expression, `time zone "${timeZone}" is not known; expected an IANA name such as "Europe/Berlin"`);
  }
}

function invalid(expression: string, problem: string): SetpointError {
  return new SetpointError(errCronInvalid, `Cannot use cron line "${expression}": ${problem}`);
}
