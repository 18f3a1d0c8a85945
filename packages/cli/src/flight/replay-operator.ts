import { FlightReplay, type ReplayResult } from "@setpoint/client";
import { noMetrics, type Host } from "@setpoint/host";
import { seededRandom } from "@setpoint/host/simulated";
import type { Operator } from "setpoint";
import { runOperator } from "setpoint/process";
import type { Recording } from "./recording-file.ts";

/** Runs an operator with the inputs of a recording, and nothing else. */
export async function replayOperator(
  operator: Operator,
  { header, entries }: Recording,
  host: Host,
): Promise<ReplayResult> {
  const replay = new FlightReplay({ header, entries, clock: host.clock });
  const namespaces = header.options?.["namespaces"];
  const manager = runOperator(operator, {
    transport: replay.transport,
    host: replay.host({ ...host, metrics: noMetrics }, seededRandom(header.seed)),
    ...(Array.isArray(namespaces) ? { namespaces: namespaces.map(String) } : {}),
  });
  // It never ends by itself: its clock stands still after the last input.
  manager.done.catch(() => {});
  return replay.run();
}
