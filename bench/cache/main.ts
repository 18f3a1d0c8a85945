/**
 * What a cache of 100,000 objects of 2 KB costs: memory beside the bytes of their JSON, and the longest pause
 * of the event loop from the first request until every object has been reconciled once, without anything to
 * do. `npm run bench:cache`.
 */
import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createKind, type KubeObject } from "@setpoint/apimachinery";
import { httpTransport } from "@setpoint/client/node";
import { systemHost } from "@setpoint/host/system";
import { controller, startManager } from "@setpoint/runtime";
import { Turns } from "./turns.ts";
import { bytesKept, widgetJson } from "./widget-json.ts";

const count = Number(process.argv[2] ?? 100_000);
const megabyte = 1024 * 1024;
/** What the goal allows beyond the bytes themselves. */
const shareMax = 1.1;
const extraMegabytesMax = 60;
const pauseMsMax = 20;

const Widget = createKind<KubeObject>({
  group: "bench.example.com",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  namespaced: true,
});

// Built as users run it; from sources the file beside this one is not built either.
const ending = import.meta.url.endsWith(".ts") ? ".ts" : ".js";
const server = fork(fileURLToPath(new URL(`./list-server${ending}`, import.meta.url)), [String(count)]);
const port = await new Promise((resolve) => server.once("message", resolve));
const host = systemHost({ write: () => undefined });
await using transport = httpTransport({ server: `http://127.0.0.1:${String(port)}`, clock: host.clock });

const startedMs = performance.now();
const startedCpu = process.cpuUsage();
const everyKey = Promise.withResolvers<void>();
let runs = 0;
const noop = controller(Widget, {
  concurrency: 16,
  reconcile: async () => {
    if (++runs === count) everyKey.resolve();
  },
});
// As `runOperatorProcess` has it in production.
await using manager = startManager({ transport, host, controllers: [noop], caches: { freeze: false } });
const turns = new Turns();
await nextTurn();
// The one in which this file runs: until its end the process is not up.
row("the turn that starts it", turns.take());
await manager.ready;
row("complete", `${seconds(performance.now() - startedMs)} s, ${cpuSeconds()} CPU s, ${memory("VmRSS")} MB`);
await nextTurn();
row(`longest pause until then (goal ${pauseMsMax})`, turns.take());
await everyKey.promise;
row(`${count} reconciles without a write`, `${seconds(performance.now() - startedMs)} s, ${cpuSeconds()} CPU s`);
row(`longest pause meanwhile (goal ${pauseMsMax})`, turns.take());

let bytes = 0;
for (let i = 0; i < count; i++) bytes += bytesKept(i);
const limit = (bytes * shareMax) / megabyte + extraMegabytesMax;
row("an object as sent / as kept", `${widgetJson(0).length} / ${Math.round(bytes / count)} bytes`);
row("memory now", `${memory("VmRSS")} MB (goal ${Math.round(limit)})`);
row("memory at most", `${memory("VmHWM")} MB`);
server.disconnect();

/** The turn that calls it is over, and counted, when the next one has begun. */
async function nextTurn(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 1));
}

function row(what: string, value: string): void {
  console.log(`${what.padEnd(40)} ${value}`);
}

function memory(field: string): string {
  const kilobytes = new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync("/proc/self/status", "utf8"))?.[1];
  return (Number(kilobytes) / 1024).toFixed(0);
}

function cpuSeconds(): string {
  const { user, system } = process.cpuUsage(startedCpu);
  return ((user + system) / 1e6).toFixed(2);
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(2);
}
