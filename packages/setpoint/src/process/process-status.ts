/** Serves the status of an operator's process: to the cluster when in a pod, to its own machine when on a desk. */
import { messageOf } from "@setpoint/apimachinery";
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
  /** Default 8080. */
  readonly port?: number;
}

export async function serveProcessStatus(options: ProcessStatusOptions): Promise<AsyncDisposable> {
  const { manager, host, inPod, logLevel, debug } = options;
  const stopObserving = observeProcess(host.metrics, host.clock);
  const profiler = new Profiler(host.clock);
  const servers = new AsyncDisposableStack();
  servers.defer(stopObserving);
  try {
    for (const { address, isNeeded } of addressesOf(inPod)) {
      const server = await listen(
        {
          ...{ manager, address, port: options.port ?? statusPort, isLoopback: !inPod },
          access: inPod ? podAccess(options) : openAccess,
          ...(debug ? { debug: { logLevel, profiler } } : {}),
        },
        isNeeded,
        host,
      );
      if (server !== undefined) servers.use(server);
    }
  } catch (error) {
    await servers.disposeAsync();
    throw error;
  }
  return servers;
}

/** In a pod: where probes and Prometheus ask, and where a forwarded port ends. */
function addressesOf(inPod: boolean): readonly ListeningAddress[] {
  const podAddress = process.env["POD_IP"];
  const loopback = { address: "127.0.0.1", isNeeded: false };
  if (!inPod || podAddress === undefined) return [loopback];
  const ofPod = { address: podAddress, isNeeded: true };
  // Pods of Setpoint's own node have loopback addresses, and share 127.0.0.1 with everybody.
  return podAddress.startsWith("127.") ? [ofPod] : [ofPod, loopback];
}

interface ListeningAddress {
  readonly address: string;
  /** A pod that does not answer at its own address would never be ready. */
  readonly isNeeded: boolean;
}

/** At the loopback address the port may be somebody else's: of a sidecar, or of another program on the desk. */
async function listen(
  server: Parameters<typeof serveStatus>[0],
  isNeeded: boolean,
  host: Host,
): Promise<AsyncDisposable | undefined> {
  try {
    return await serveStatus(server);
  } catch (error) {
    if (isNeeded) throw error;
    const { address, port } = server;
    const why = messageOf(error);
    host.log.warn("Status is not served: the port is taken, so `setpoint why` asks whoever has it", {
      address,
      port,
      why,
    });
    return undefined;
  }
}

/** What the debug paths tell has names of objects in it, so they are never open in a cluster. */
function podAccess({ client, host, metricsAccess }: ProcessStatusOptions): StatusAccess {
  const reviewed = reviewedAccess({ client, clock: host.clock, log: host.log });
  return (question) =>
    metricsAccess === "open" && question.path === "/metrics" ? Promise.resolve("allowed") : reviewed(question);
}
