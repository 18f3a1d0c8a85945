/**
 * What the transports cost that stand before another: the flight recorder and the overlay of a plan.
 * `node --conditions=@setpoint/source bench/transports.ts`
 */
import { ConfigMap } from "@setpoint/api";
import type { Transport } from "@setpoint/apimachinery";
import {
  createClient,
  FlightRecorder,
  FlightRing,
  overlayTransport,
  RecordedUse,
  useRecordingTransport,
} from "@setpoint/client";
import { startControlPlane } from "@setpoint/controlplane";
import { silentLogger, type Host } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";

const objects = 2_000;
const concurrency = 16;
const host: Host = { ...systemHost(), log: silentLogger };
const data = { text: "x".repeat(1_500) };

/** Creates objects and reads each of them. */
async function run(transport: Transport, host: Host, prefix: string): Promise<number> {
  const client = createClient(transport, host);
  const startedMs = performance.now();
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < objects) {
      const key = { name: `${prefix}-${next++}`, namespace: "default" };
      await client.create(ConfigMap, ConfigMap({ ...key, data }));
      await client.get(ConfigMap, key);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return (performance.now() - startedMs) / (objects * 2);
}

await using plane = await startControlPlane({ host, controllers: false });
const { transport } = plane;
await run(transport, host, "warm");
const ring = new FlightRing(64_000_000);
const recorder = new FlightRecorder({ clock: host.clock, sink: ring });
const rows: readonly (readonly [string, number])[] = [
  ["in-process, nothing before it", await run(transport, host, "plain")],
  ["rights from use", await run(useRecordingTransport(transport, new RecordedUse()), host, "use")],
  ["flight recorder", await run(recorder.transport(transport), recorder.host(host, host.random), "flight")],
  ["overlay of a plan", await run(overlayTransport(transport, host), host, "overlay")],
];
for (const [name, ms] of rows) console.log(`${name.padEnd(32)} ${(ms * 1_000).toFixed(0).padStart(6)} µs a request`);
console.log(`recorded: ${(ring.bytes / 1e6).toFixed(1)} MB for ${objects * 2} requests`);
