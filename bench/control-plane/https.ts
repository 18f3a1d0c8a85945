/**
 * Creates a second over HTTPS: the client in this process, of one and four clients, and in a process of its
 * own.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { ControlPlane } from "@setpoint/controlplane";
import { type HttpTransport, httpTransport } from "@setpoint/client/node";
import { repeat, report } from "./report.ts";
import { configMaps, host, measureWrites, start } from "./workload.ts";

const count = 5_000;
const writers = 64;
const runs = 7;
const goal = "≥ 5,000";

function connectTo(plane: ControlPlane): HttpTransport {
  const { certificate, key } = plane.issueClient("admin", ["system:masters"]);
  return httpTransport({ server: plane.url ?? "", clock: host.clock, ca: plane.caPem, cert: certificate, key });
}

async function fromHere(plane: ControlPlane, clients: number): Promise<void> {
  const transports = Array.from({ length: clients }, () => connectTo(plane));
  await measureWrites(transports, configMaps, count, writers);
  const rates = await repeat(runs, () => measureWrites(transports, configMaps, count, writers));
  const what = `writes over HTTPS, client here, ${clients} client${clients === 1 ? "" : "s"}`;
  report({ what, unit: "writes/s", samples: rates.map(({ perSecond }) => perSecond), goal });
  report({
    what: "  of processor time, both sides",
    unit: "writes/s",
    samples: rates.map(({ perCpuSecond }) => perCpuSecond),
  });
  for (const each of transports) await each[Symbol.asyncDispose]();
}

/** The child prints one rate a line. */
async function fromElsewhere(plane: ControlPlane): Promise<void> {
  const { certificate, key } = plane.issueClient("admin", ["system:masters"]);
  const options = JSON.stringify({ server: plane.url, ca: plane.caPem, cert: certificate, key, count, writers, runs });
  const file = fileURLToPath(new URL("https-client.ts", import.meta.url));
  const child = spawn(process.execPath, ["--conditions=@setpoint/source", file, options], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const cpu: number[] = [];
  const samples: number[] = [];
  let last = process.cpuUsage();
  for await (const line of createInterface({ input: child.stdout })) {
    const { user, system } = process.cpuUsage(last);
    last = process.cpuUsage();
    if (line === "warm") continue;
    samples.push(Number(line));
    cpu.push((count * 1e6) / (user + system));
  }
  if (child.exitCode === null) await once(child, "exit");
  report({ what: "writes over HTTPS, client in another process", unit: "writes/s", samples, goal });
  report({ what: "  of processor time, server alone", unit: "writes/s", samples: cpu });
}

await using plane = await start({ https: {} });
await fromHere(plane, 1);
await fromHere(plane, 4);
await fromElsewhere(plane);
