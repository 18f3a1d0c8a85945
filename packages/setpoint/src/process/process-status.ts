/** Serves the status of an operator's process: to the cluster when in a pod, to its own machine when on a desk. */
import type { Client } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import type { Manager } from "@setpoint/runtime";
import type { LogLevelControl } from "./log-level.ts";
import { observeProcess } from "./process-metrics.ts";
import { Profiler } from "./profiles.ts";
import { openAccess, reviewedAccess, type StatusAccess } from "./status-access.ts";
import { serveStatus } from "./status-server.ts";

const statusPort = 8080;

export interface ProcessStatusOptions {
  readonly manager: Manager;
  readonly host: Host;
  /** Its account reviews tokens. */
  readonly client: Client;
  readonly logLevel: LogLevelControl;
  readonly inPod: boolean;
  /** In a pod: who may read `/metrics`. */
  readonly metricsAccess: "open" | "token";
  /** Whether the log level can be set and profiles taken. */
  readonly debug: boolean;
}

export async function serveProcessStatus(options: ProcessStatusOptions): Promise<AsyncDisposable> {
  const { manager, host, inPod, logLevel, debug } = options;
  const stopObserving = observeProcess(host.metrics, host.clock);
  const profiler = new Profiler(host.clock);
  const servers = new AsyncDisposableStack();
  for (const address of addressesOf(inPod)) {
    const server = await listen(
      {
        ...{ manager, address, port: statusPort, isLoopback: !inPod },
        access: inPod ? podAccess(options) : openAccess,
        ...(debug ? { debug: { logLevel, profiler } } : {}),
      },
      options,
    );
    if (server !== undefined) servers.use(server);
  }
  return {
    async [Symbol.asyncDispose]() {
      stopObserving();
      await servers.disposeAsync();
    },
  };
}

/** In a pod: where probes and Prometheus ask, and where a forwarded port ends. */
function addressesOf(inPod: boolean): readonly string[] {
  const podAddress = process.env["POD_IP"];
  const loopback = "127.0.0.1";
  if (!inPod || podAddress === undefined) return [loopback];
  // Pods of Setpoint's own node have loopback addresses, and share 127.0.0.1 with everybody.
  return podAddress.startsWith("127.") ? [podAddress] : [podAddress, loopback];
}

/** A pod without its port would never be ready; on a desk the port may be somebody else's. */
async function listen(
  server: Parameters<typeof serveStatus>[0],
  { inPod, host }: ProcessStatusOptions,
): Promise<AsyncDisposable | undefined> {
  try {
    return await serveStatus(server);
  } catch (error) {
    if (inPod) throw error;
    host.log.warn("Status is not served: the port is taken", { port: statusPort, error });
    return undefined;
  }
}

/** What the debug paths tell has names of objects in it, so they are never open in a cluster. */
function podAccess({ client, host, metricsAccess }: ProcessStatusOptions): StatusAccess {
  const reviewed = reviewedAccess({ client, clock: host.clock, log: host.log });
  return (question) =>
    metricsAccess === "open" && question.path === "/metrics" ? Promise.resolve("allowed") : reviewed(question);
}
