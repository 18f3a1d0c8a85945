/** Limits for the time that the event loop may be blocked, in milliseconds. */
export interface StallWatchdogOptions {
  /**
   * After so long without a turn of the event loop, a line on standard error says where the code is; default
   * 5 s.
   */
  readonly reportMs?: number;
  /** After so long without a turn the process ends; default 20 s. */
  readonly endMs?: number;
  /** A file that the lines are appended to as well. */
  readonly file?: string;
}

/** What the thread is given. */
export interface StallWatchdogData {
  /** A number that grows with the turns of the event loop. */
  readonly beats: Int32Array;
  readonly reportMs: number;
  readonly endMs: number;
  readonly lookMs: number;
  readonly file: string | undefined;
}

const reportMsDefault = 5_000;
/** Less than the grace period of a pod, so that a process that cannot hear SIGTERM says why it ends. */
const endMsDefault = 20_000;
const lookMsMax = 1_000;
const looksPerReport = 4;

/** It holds a few numbers and the names of scripts. */
const resourceLimits = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 };

/**
 * Watches the event loop of this process from a thread. While code never yields, the main thread cannot
 * notice it, nor receive a signal.
 *
 * Guarantees: it reports a stall of `reportMs` with the current stack, and ends the process with code 1 after
 * a stall of `endMs`. Time in which the whole process stands still (a stopped process, a sleeping machine)
 * does not count. Caveat: it only works in the main thread, and not in a process with a debugger.
 */
export function startStallWatchdog(options: StallWatchdogOptions = {}): Disposable {
  const { reportMs = reportMsDefault, endMs = endMsDefault, file } = options;
  // Loaded when it is needed: every operator loads this package.
  const { isMainThread, Worker } = process.getBuiltinModule("node:worker_threads");
  if (!isMainThread || process.execArgv.some((each) => each.startsWith("--inspect"))) return { [Symbol.dispose]() {} };
  const beats = new Int32Array(new SharedArrayBuffer(4));
  const lookMs = Math.min(lookMsMax, Math.ceil(reportMs / looksPerReport));
  const workerData: StallWatchdogData = { beats, reportMs, endMs, lookMs, file };
  const thread = import.meta.url.endsWith(".ts") ? "./stall-watchdog-thread.ts" : "./stall-watchdog-thread.js";
  const worker = new Worker(new URL(thread, import.meta.url), { workerData, execArgv: [], env: {}, resourceLimits });
  // Without the thread the process is as it was before there was one.
  worker.on("error", () => {});
  worker.unref();
  const beating = setInterval(() => Atomics.add(beats, 0, 1), lookMs);
  beating.unref();
  return {
    [Symbol.dispose]() {
      clearInterval(beating);
      void worker.terminate();
    },
  };
}
