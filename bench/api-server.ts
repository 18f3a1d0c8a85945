/**
 * Measures the embedded API server in-process: start, creates per second (memory, and durable by group commit), watch
 * fan-out, heap. Run: node --expose-gc --conditions=@setpoint/source bench/api-server.ts
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Transport, UnstructuredObject } from "@setpoint/apimachinery";
import { createApiServer, createMemoryStorage, type ResourceDefinition, type Storage } from "@setpoint/apiserver";
import { openSqliteStorage } from "@setpoint/apiserver/sqlite";
import { noMetrics, silentLogger } from "@setpoint/host";
import { systemClock, systemRandom } from "@setpoint/host/system";

const host = { clock: systemClock, random: systemRandom, log: silentLogger, metrics: noMetrics };
const user = { username: "bench", groups: ["system:masters"] };
const collection = "/api/v1/namespaces/default/configmaps";

const configMaps: ResourceDefinition = {
  group: "",
  version: "v1",
  resource: "configmaps",
  singular: "configmap",
  kind: "ConfigMap",
  listKind: "ConfigMapList",
  namespaced: true,
  verbs: ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"],
  shortNames: [],
  categories: [],
  subresources: [],
  schema: {
    type: "object",
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      data: { type: "object", additionalProperties: { type: "string" } },
    },
  },
  custom: false,
  strategy: { allowsUnconditionalUpdate: true },
  columns: [],
  selectableFields: {},
  storagePrefix: "/configmaps",
  storageVersion: "v1",
};

const configMap = (name: string): UnstructuredObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, labels: { app: "bench" } },
  data: { key: "value", other: "some more text" },
});

function serve(storage: Storage): Transport {
  return createApiServer({ host, storage, builtin: [configMaps] }).transport(user);
}

async function writesPerSecond(storage: Storage, count: number, writers: number): Promise<number> {
  const transport = serve(storage);
  let next = 0;
  const writer = async (): Promise<void> => {
    while (next < count) {
      const body = configMap(`cm-${next++}`);
      const { status } = await transport.send({ method: "POST", path: collection, body });
      if (status !== 201) throw new Error(`create answered ${status}`);
    }
  };
  const startMs = performance.now();
  await Promise.all(Array.from({ length: writers }, writer));
  return Math.round((count / (performance.now() - startMs)) * 1000);
}

async function fanOut(watchers: number, writes: number): Promise<number> {
  const transport = serve(createMemoryStorage(host));
  const read = async (): Promise<void> => {
    const response = await transport.send({ method: "GET", path: collection, query: { watch: "1" } });
    if (response.kind !== "watch") throw new Error("no watch");
    let seen = 0;
    for await (const _ of response.frames) if (++seen === writes) return;
  };
  const readers = Array.from({ length: watchers }, read);
  await new Promise((resolve) => setImmediate(resolve));
  const startMs = performance.now();
  for (let i = 0; i < writes; i++)
    await transport.send({ method: "POST", path: collection, body: configMap(`w-${i}`) });
  await Promise.all(readers);
  return Math.round(((watchers * writes) / (performance.now() - startMs)) * 1000);
}

const report = (what: string, value: string): void => console.log(`${what.padEnd(44)}${value}`);

globalThis.gc?.();
const heapBefore = process.memoryUsage().heapUsed;
const startMs = performance.now();
const first = serve(createMemoryStorage(host));
await first.send({ method: "GET", path: collection });
report("start to first answer, one kind", `${(performance.now() - startMs).toFixed(1)} ms`);
globalThis.gc?.();
report("heap of an empty server", `${((process.memoryUsage().heapUsed - heapBefore) / 1e6).toFixed(2)} MB`);

await writesPerSecond(createMemoryStorage(host), 5_000, 100);
report("creates/s, memory, 100 writers", String(await writesPerSecond(createMemoryStorage(host), 40_000, 100)));

const directory = mkdtempSync(join(tmpdir(), "bench-"));
const durable = openSqliteStorage({ ...host, directory });
report("creates/s, SQLite durable, 100 writers", String(await writesPerSecond(durable, 40_000, 100)));
await durable[Symbol.asyncDispose]();
rmSync(directory, { recursive: true });

report("watch events/s, 200 watches, 2,000 writes", String(await fanOut(200, 2_000)));
