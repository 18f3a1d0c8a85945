import type { Transport } from "@setpoint/apimachinery";
import { flightFormat, FlightRecorder, type FlightHeader, type FlightSink } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import { seededRandom } from "@setpoint/host/simulated";
import type { Operator } from "setpoint";
import { runOperator } from "setpoint/process";

export interface RecordOptions {
  readonly operator: Operator;
  readonly transport: Transport;
  readonly host: Host;
  readonly namespaces?: readonly string[];
  /** Makes the sink when the header is known. */
  sink(header: FlightHeader): FlightSink;
  readonly keepSecrets?: boolean;
}

/** Runs an operator with everything that it is given recorded, until `until` resolves. */
export async function recordOperator(
  options: RecordOptions,
  until: Promise<unknown>,
): Promise<{ readonly requests: number }> {
  const { operator, transport, host, namespaces, keepSecrets = false } = options;
  // From the real randomness, once: everything after it follows from the seed.
  const seed = host.random.int(2 ** 31);
  const header: FlightHeader = {
    format: flightFormat,
    program: operator.name,
    seed,
    epochMs: host.clock.now(),
    ...(namespaces === undefined ? {} : { options: { namespaces } }),
  };
  const recorder = new FlightRecorder({
    clock: host.clock,
    sink: options.sink(header),
    epochMs: header.epochMs,
    keepSecrets,
  });
  const manager = runOperator(operator, {
    transport: recorder.transport(transport),
    host: recorder.host(host, seededRandom(seed)),
    ...(namespaces === undefined ? {} : { namespaces }),
  });
  try {
    await Promise.race([until, manager.done]);
  } finally {
    // How it stops is not part of the flight.
    recorder.stop();
    await manager.stop();
  }
  return { requests: recorder.requestCount };
}
