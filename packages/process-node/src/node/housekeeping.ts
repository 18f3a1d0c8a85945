import type { Host, Timer } from "@setpoint/host";

export interface HousekeepingTask {
  /** From the end of one run to the start of the next. */
  readonly periodMs: number;
  run(): Promise<void>;
}

/** Runs each task again and again. Disposing it waits for the runs under way. */
export function startHousekeeping(host: Host, tasks: readonly HousekeepingTask[]): AsyncDisposable {
  const stops = tasks.map((task) => repeat(host, task));
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}

function repeat({ clock, log }: Host, task: HousekeepingTask): () => Promise<void> {
  let timer: Timer | undefined;
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();
  const schedule = (): void => {
    if (isStopped) return;
    timer = clock.setTimer(() => {
      running = task
        .run()
        .catch((error: unknown) => log.warn("Housekeeping failed", { error }))
        .finally(schedule);
    }, task.periodMs);
  };
  schedule();
  return async () => {
    isStopped = true;
    timer?.cancel();
    await running;
  };
}
