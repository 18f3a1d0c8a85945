/**
 * Acts as a client of an instance for acceptance tests: writes keys until they are acknowledged, and reads
 * them.
 */
import { type Clock, sleep } from "@setpoint/host";
import type { AgentEnvironment, EngineAgent, EngineValues } from "../engine/agent.ts";
import { cancelledError, isTransferError, TransferError } from "../engine/transfer-error.ts";
import type { ProbeOutcome, ProbeRequest } from "./request.ts";

/** A client tries again at once: the pause is what it needs to notice a changed leader. */
const retryMs = 100;
/** As many as a person reads. */
const wrongMax = 5;

/** Carries out the request. A refusal ends it; whatever else fails is tried until the pod's deadline. */
export function probe(
  request: ProbeRequest,
  engine: EngineAgent,
  environment: AgentEnvironment,
  clock: Clock,
): Promise<ProbeOutcome> {
  if (engine.values === undefined)
    throw new TransferError("RequestInvalid", `The engine "${request.engine}" has no values to read and write.`);
  return request.task === "write"
    ? writeAll(request, engine.values, environment, clock)
    : readAll(request, engine.values, environment, clock);
}

async function writeAll(
  { prefix, count, pauseMs }: Extract<ProbeRequest, { task: "write" }>,
  values: EngineValues,
  environment: AgentEnvironment,
  clock: Clock,
): Promise<ProbeOutcome> {
  let longestGapMs = 0;
  let lastMs = clock.monotonic();
  for (let index = 0; index < count; index++) {
    const key = `${prefix}${index}`;
    await untilAnswered(() => values.write(key, key, environment), environment.signal, clock);
    const nowMs = clock.monotonic();
    longestGapMs = Math.max(longestGapMs, Math.round(nowMs - lastMs));
    lastMs = nowMs;
    if (pauseMs > 0) await sleep(clock, pauseMs, environment.signal);
  }
  return { entries: count, longestGapMs };
}

async function readAll(
  { prefix, count }: ProbeRequest,
  values: EngineValues,
  environment: AgentEnvironment,
  clock: Clock,
): Promise<ProbeOutcome> {
  const wrong: string[] = [];
  for (let index = 0; index < count; index++) {
    const key = `${prefix}${index}`;
    const value = await untilAnswered(() => values.read(key, environment), environment.signal, clock);
    if (value !== key) wrong.push(key);
  }
  return { entries: count - wrong.length, ...(wrong.length === 0 ? {} : { wrong: wrong.slice(0, wrongMax) }) };
}

async function untilAnswered<T>(ask: () => Promise<T>, signal: AbortSignal, clock: Clock): Promise<T> {
  for (;;) {
    if (signal.aborted) throw cancelledError();
    try {
      return await ask();
    } catch (error) {
      if (signal.aborted) throw cancelledError();
      if (isTransferError(error) && !error.retry) throw error;
    }
    await sleep(clock, retryMs, signal);
  }
}
