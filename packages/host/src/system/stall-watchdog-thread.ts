/** The thread that watches the event loop of its process; see `startStallWatchdog`. */
import { appendFileSync, writeSync } from "node:fs";
import { Session } from "node:inspector";
import { workerData } from "node:worker_threads";
import type { StallWatchdogData } from "./stall-watchdog.ts";

const { beats, reportMs, endMs, lookMs, file } = workerData as StallWatchdogData;
const framesMax = 8;
/** From where a promise reaction ends to where the next one begins. */
const stepsMax = 8;
/** Code that runs outside of JavaScript (a query, a read from a disk) cannot be paused. */
const pauseMsMax = 1_000;
const standardError = 2;

let lastBeat = -1;
let stalledMs = 0;
let isReported = false;

setInterval(() => {
  const beat = Atomics.load(beats, 0);
  if (beat === lastBeat) return noticeStall();
  if (isReported) say("warn", "Event loop goes on", { stalledMs });
  lastBeat = beat;
  stalledMs = 0;
  isReported = false;
}, lookMs);

/** Counts its own looks and not the time: while the whole process stands still it does, too. */
function noticeStall(): void {
  stalledMs += lookMs;
  if (stalledMs >= endMs) return endProcess();
  if (stalledMs < reportMs || isReported) return;
  isReported = true;
  whenPaused((frames, session) => {
    say("error", "Event loop stalled", { stalledMs, stack: frames });
    if (session !== undefined) resume(session);
  });
}

function resume(session: Session): void {
  session.post("Debugger.resume", () => session.post("Debugger.disable", () => session.disconnect()));
}

let isEnding = false;

function endProcess(): void {
  if (isEnding) return;
  isEnding = true;
  whenPaused((frames, session) => {
    say("error", "Event loop stalled for too long; the process ends", { stalledMs, stack: frames });
    if (session === undefined) process.kill(process.pid, "SIGKILL");
    session?.post("Runtime.evaluate", { expression: "process.reallyExit(1)" });
    // Where the code cannot be paused for long enough.
    setTimeout(() => process.kill(process.pid, "SIGKILL"), pauseMsMax);
  });
}

interface Frame {
  readonly functionName: string;
  readonly location: { readonly scriptId: string; readonly lineNumber: number };
}

interface Script {
  readonly scriptId: string;
  readonly url: string;
}

/** Pauses the process's code and says where it is; without a session when it cannot be paused. */
function whenPaused(then: (frames: readonly string[], session: Session | undefined) => void): void {
  const session = new Session();
  session.connectToMainThread();
  const urls = new Map<string, string>();
  session.on("Debugger.scriptParsed", ({ params }: { readonly params: Script }) => {
    urls.set(params.scriptId, params.url.replace("file://", ""));
  });
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    then(["(outside of JavaScript)"], undefined);
  }, pauseMsMax);
  let stepsLeft = stepsMax;
  session.on("Debugger.paused", ({ params }: { readonly params: { readonly callFrames: readonly Frame[] } }) => {
    // Ending the session earlier would wait for the code that cannot be paused.
    if (isLate) return resume(session);
    // Between two promise reactions only Node's own frames are there: what loops is where the next one
    // begins.
    if (isInNode(params.callFrames[0], urls) && stepsLeft-- > 0) return session.post("Debugger.stepInto");
    clearTimeout(late);
    then(
      params.callFrames.slice(0, framesMax).map((frame) => textOf(frame, urls)),
      session,
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

/** Written here: the thread that usually writes is the one that stands still. */
function say(level: "warn" | "error", message: string, fields: object): void {
  const line = `${JSON.stringify({ time: new Date().toISOString(), level, message, ...fields })}\n`;
  for (const write of [() => writeSync(standardError, line), () => file !== undefined && appendFileSync(file, line)])
    try {
      write();
    } catch {
      // A line that cannot be written is dropped.
    }
}
