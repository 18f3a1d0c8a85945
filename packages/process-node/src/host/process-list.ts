import { readdirSync, readFileSync } from "node:fs";
import { type Clock, TimeSlices } from "@setpoint/host";

export interface ListedProcess {
  readonly pid: number;
  /** Its words end with NUL, as in /proc. Empty when it has ended, also while its parent has not noticed. */
  readonly commandLine: string;
}

/**
 * The processes of this host. A look takes a file for each of them, and pods that end together all ask: those
 * who ask during a look share the next one.
 */
export class ProcessList {
  readonly #clock: Clock;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<readonly ListedProcess[]> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** All processes but this one, as they are at some moment after the call. */
  read(): Promise<readonly ListedProcess[]> {
    this.#next ??= this.#readAfter(this.#running);
    return this.#next;
  }

  async #readAfter(before: Promise<unknown>): Promise<readonly ListedProcess[]> {
    await before.catch(() => {});
    this.#next = undefined;
    const reading = look(this.#clock);
    this.#running = reading;
    return reading;
  }
}

async function look(clock: Clock): Promise<readonly ListedProcess[]> {
  const slices = new TimeSlices(clock);
  const listed: ListedProcess[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name) || name === String(process.pid)) continue;
    if (slices.isOver()) await slices.pause();
    listed.push({ pid: Number(name), commandLine: commandLineOf(name) });
  }
  return listed;
}

function commandLineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
