/** One write to many watches, without a network and over HTTPS; and lists of 10,000 objects. */
import type { Transport } from "@setpoint/apimachinery";
import { httpTransport } from "@setpoint/client/node";
import { repeat, report, timed } from "./report.ts";
import { configMaps, host, measureWrites, start } from "./workload.ts";

const runs = 7;

/**
 * Opens watches on one connection each; resolves to events a second until the last watch has seen the last
 * write.
 */
async function eventsPerSecond(writer: Transport, readers: readonly Transport[], writes: number): Promise<number> {
  const stop = new AbortController();
  const { body } = await writer.send({ method: "GET", path: configMaps.path, query: { limit: "1" } }).then(listOf);
  const seen = readers.map(async (reader) => {
    const response = await reader.send(
      { method: "GET", path: configMaps.path, query: { watch: "1", resourceVersion: body.metadata.resourceVersion } },
      stop.signal,
    );
    if (response.kind !== "watch") throw new Error("no watch");
    return response.frames;
  });
  const streams = await Promise.all(seen);
  const readAll = async (frames: AsyncIterable<unknown>): Promise<void> => {
    let left = writes;
    for await (const _ of frames) if (--left === 0) return;
  };
  const elapsedMs = await timed(() =>
    Promise.all([measureWrites([writer], configMaps, writes, 20), ...streams.map(readAll)]),
  );
  stop.abort();
  return (readers.length * writes * 1_000) / elapsedMs;
}

interface List {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly unknown[];
}

function listOf(response: Awaited<ReturnType<Transport["send"]>>): { readonly body: List } {
  if (response.kind !== "object" || response.status !== 200) throw new Error(`list answered ${response.status}`);
  return { body: response.object as List };
}

await using plane = await start({ https: {} });
const { certificate, key } = plane.issueClient("admin", ["system:masters"]);
const connect = (): ReturnType<typeof httpTransport> =>
  httpTransport({ server: plane.url ?? "", clock: host.clock, ca: plane.caPem, cert: certificate, key });
await using writer = connect();
await using reader = connect();

const inProcess = Array.from({ length: 200 }, () => plane.transport);
const fanOut = await repeat(runs, () => eventsPerSecond(plane.transport, inProcess, 500));
report({ what: "watch, in-process, 500 writes to 200 watches", unit: "events/s", samples: fanOut });
const overHttps = Array.from({ length: 100 }, () => reader);
const samples = await repeat(runs, () => eventsPerSecond(writer, overHttps, 200));
report({ what: "watch, HTTPS, 200 writes to 100 watches", unit: "events/s", samples });

const { body } = listOf(await plane.transport.send({ method: "GET", path: configMaps.path }));
await measureWrites([plane.transport], configMaps, 10_000 - body.items.length, 20);
const list = async (transport: Transport): Promise<void> => {
  const { items } = listOf(await transport.send({ method: "GET", path: configMaps.path })).body;
  if (items.length !== 10_000) throw new Error(`${items.length} objects`);
};
report({
  what: "list of 10,000 objects, in-process",
  unit: "ms",
  samples: await repeat(runs, () => timed(() => list(plane.transport))),
});
report({
  what: "list of 10,000 objects, HTTPS with gzip, parsed",
  unit: "ms",
  samples: await repeat(runs, () => timed(() => list(reader))),
});
