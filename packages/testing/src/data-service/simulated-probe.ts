/** A model of the agent as a client of an instance: it writes or reads keys, as acceptance tests ask it. */
import { type Clock, sleep } from "@setpoint/host";
import type { Launch, Program } from "../program-model.ts";

/**
 * Single values of a simulated instance, reached by the source of its engine. Both throw when it does not
 * answer.
 */
export interface SimulatedValues {
  write(source: unknown, key: string, value: string): Promise<void>;
  read(source: unknown, key: string): Promise<string | undefined>;
}

/** A request, as far as the model needs it; `@setpoint/data-service/agent` has the whole protocol. */
export interface ProbeRequest {
  readonly task: "write" | "read";
  readonly engine: string;
  readonly source: unknown;
  readonly prefix: string;
  readonly count: number;
  readonly pauseMs?: number;
}

const retryMs = 100;
const killedCode = 137;

/** Starts the client. Like the agent, it tries each key until the instance answers. */
export function startProbe(request: ProbeRequest, launch: Launch, values: SimulatedValues | undefined): Program {
  if (values === undefined) throw new Error(`the world has no values of engine "${request.engine}"`);
  const { clock } = launch.host;
  const over = new AbortController();
  const end = (code: number, outcome: object): void => {
    if (over.signal.aborted) return;
    over.abort();
    launch.exited(code, JSON.stringify(outcome));
  };
  const failed = (reason: string, message: string): object => ({ outcome: "failed", reason, message, retry: true });
  probe(request, values, clock, over.signal).then(
    (entries) => end(0, { outcome: "done", probe: entries }),
    (error: unknown) => end(1, failed("InternalError", String(error))),
  );
  return {
    terminate: () => end(1, failed("Cancelled", "the pod was stopped")),
    kill: () => end(killedCode, failed("InternalError", "the process was killed")),
  };
}

async function probe(
  { task, source, prefix, count, pauseMs = 0 }: ProbeRequest,
  values: SimulatedValues,
  clock: Clock,
  signal: AbortSignal,
): Promise<object> {
  const wrong: string[] = [];
  for (let index = 0; index < count; index++) {
    const key = `${prefix}${index}`;
    const ask = (): Promise<string | undefined | void> =>
      task === "write" ? values.write(source, key, key) : values.read(source, key);
    const answer = await untilAnswered(ask, clock, signal);
    if (task === "read" && answer !== key) wrong.push(key);
    if (pauseMs > 0) await sleep(clock, pauseMs, signal);
  }
  return { entries: count - wrong.length, ...(wrong.length === 0 ? {} : { wrong: wrong.slice(0, 5) }) };
}

async function untilAnswered<T>(ask: () => Promise<T>, clock: Clock, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch {
      await sleep(clock, retryMs, signal);
    }
  }
}
