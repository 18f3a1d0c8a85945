import { sleep } from "@setpoint/host";
import { CronSchedule, type CronOptions } from "./cron-schedule.ts";
import { resumable, wakeAll, type KeysOf } from "./source.ts";
import { type Source, type SourcePorts } from "../controller/source.ts";

/** How often to read the clock while waiting: users set clocks, and machines sleep. */
const lookMsMax = 300_000;
/** A clock that goes back by more than this was wrong before; what it showed then is forgotten. */
const correctionMsMin = 26 * 3_600_000;

/**
 * Enqueues keys by a cron line: `cron("0 3 * * *", { timeZone: "Europe/Berlin" })` enqueues all objects at
 * three o'clock; a function as third argument returns the keys.
 *
 * Guarantees: each moment fires at most once, also when the clock is set back. Moments that were missed while
 * the process slept or was busy fire once together. A moment whose function throws fires when the source
 * restarts. The source does not make up for moments without a leader: a new leader runs every key anyway, and
 * the reconcile decides from the status (`nextCronRun`).
 */
export function cron(expression: string, options: CronOptions = {}, keysOf?: KeysOf): Source {
  const schedule = new CronSchedule(expression, options);
  return {
    name: `cron ${expression} ${schedule.timeZone}`,
    run: resumable<Moment>(
      ({ clock }) => ({ ms: clock.now() }),
      (ports, fired) => follow(schedule, keysOf, ports, fired),
    ),
  };
}

/** All moments up to this one have fired; a run that failed goes on from it. */
interface Moment {
  ms: number;
}

async function follow(
  schedule: CronSchedule,
  keysOf: KeysOf | undefined,
  ports: SourcePorts,
  fired: Moment,
): Promise<void> {
  const { clock, signal } = ports;
  for (;;) {
    const dueMs = schedule.nextAfter(fired.ms);
    const nowMs = clock.now();
    if (nowMs >= dueMs) {
      wakeAll(ports, keysOf, "normal");
      ports.works();
      fired.ms = nowMs;
    } else {
      if (nowMs < fired.ms - correctionMsMin) fired.ms = nowMs;
      await sleep(clock, Math.min(dueMs - nowMs, lookMsMax), signal);
    }
  }
}
