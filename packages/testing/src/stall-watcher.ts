/**
 * The thread that notices a world in which time stands still: code that never yields leaves no turn in which
 * its own thread could notice anything. It looks where that code is, ends it, and tells.
 */
import { Session } from "node:inspector";
import timers from "node:timers";
import { parentPort, workerData } from "node:worker_threads";
import type { Stall, StallWatcherData } from "./stall-watch.ts";

const { shared, stallMsMax, lookMs } = workerData as StallWatcherData;
const framesMax = 8;
const stepsMax = 8;

let lastStep = -1;
let sinceMs = 0;
/** Ending takes a while on a busy machine, in which it must not begin again. */
let isEnding = false;

timers.setInterval(() => {
  const isRunning = Atomics.load(shared, 0) === 1;
  const step = Atomics.load(shared, 1);
  sinceMs = isRunning && step === lastStep ? sinceMs + lookMs : 0;
  lastStep = step;
  if (sinceMs < stallMsMax || isEnding) return;
  sinceMs = 0;
  isEnding = true;
  endWhatRuns(Atomics.load(shared, 2));
}, lookMs);

interface Frame {
  readonly functionName: string;
  readonly location: { readonly scriptId: string; readonly lineNumber: number };
}

interface Script {
  readonly scriptId: string;
  readonly url: string;
}

function endWhatRuns(run: number): void {
  const session = new Session();
  session.connectToMainThread();
  const urls = new Map<string, string>();
  session.on("Debugger.scriptParsed", ({ params }: { readonly params: Script }) => {
    urls.set(params.scriptId, params.url.replace("file://", ""));
  });
  let stepsLeft = stepsMax;
  session.on("Debugger.paused", ({ params }: { readonly params: { readonly callFrames: readonly Frame[] } }) => {
    // Between two promise reactions only Node's own frames are there: what loops is where the next one
    // begins.
    if (isInNode(params.callFrames[0], urls) && stepsLeft-- > 0) return session.post("Debugger.stepInto");
    const frames = params.callFrames.slice(0, framesMax).map((frame) => textOf(frame, urls));
    const stall: Stall = { run, afterMs: stallMsMax, frames };
    Atomics.store(shared, 3, run);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    parentPort?.postMessage(stall);
    // Asked for now, done when the thread goes on.
    session.post("Runtime.terminateExecution");
    session.post("Debugger.resume", () =>
      session.post("Debugger.disable", () => {
        session.disconnect();
        isEnding = false;
      }),
    );
  });
  session.post("Debugger.enable", () => session.post("Debugger.pause"));
}

function isInNode(frame: Frame | undefined, urls: ReadonlyMap<string, string>): boolean {
  return frame !== undefined && urls.get(frame.location.scriptId)?.startsWith("node:") === true;
}

function textOf({ functionName, location }: Frame, urls: ReadonlyMap<string, string>): string {
  return `${functionName || "(anonymous)"} (${urls.get(location.scriptId) ?? "?"}:${location.lineNumber + 1})`;
}
