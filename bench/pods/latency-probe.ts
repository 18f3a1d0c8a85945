/**
 * A client that asks the API server for one small object all the time, in a thread of its own, so that what
 * the measuring program does is not taken for the server's.
 */
import { setTimeout as pause } from "node:timers/promises";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { Namespace } from "@setpoint/api";
import { createClient } from "@setpoint/client";
import { connect } from "@setpoint/client/node";
import { systemClock, systemRandom } from "@setpoint/host/system";

const betweenMs = 25;

/** Between its start and its stop. */
export interface LatencyProbe {
  /** Milliseconds of each request. */
  stop(): Promise<readonly number[]>;
}

/** Resolves when the first answer, that of the connection's start, has come. */
export async function startLatencyProbe(kubeconfig: string): Promise<LatencyProbe> {
  const worker = new Worker(new URL(import.meta.url), { workerData: kubeconfig });
  await nextMessage(worker);
  return {
    async stop() {
      worker.postMessage("stop");
      return (await nextMessage(worker)) as readonly number[];
    },
  };
}

function nextMessage(worker: Worker): Promise<unknown> {
  return new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}

async function probe(port: NonNullable<typeof parentPort>, kubeconfig: string): Promise<void> {
  await using transport = connect({ clock: systemClock, kubeconfig, userAgent: "setpoint-bench-probe" });
  const client = createClient(transport, { clock: systemClock, random: systemRandom });
  const ask = (): Promise<unknown> => client.get(Namespace, { name: "default" });
  await ask();
  const stopping = new AbortController();
  port.once("message", () => stopping.abort());
  port.postMessage("ready");
  const latencies: number[] = [];
  while (!stopping.signal.aborted) {
    const begin = performance.now();
    await ask();
    latencies.push(performance.now() - begin);
    await pause(betweenMs);
  }
  port.postMessage(latencies);
}

if (!isMainThread && parentPort !== null) await probe(parentPort, workerData as string);
