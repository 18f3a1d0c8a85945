import { type AddressInfo, createServer, type Server } from "node:net";
import { createClient } from "@setpoint/client";
import { systemHost } from "@setpoint/host/system";
import type { Manager } from "@setpoint/runtime";
import { afterEach, expect, test, vi } from "vitest";
import { LogLevelControl } from "./log-level.ts";
import { serveProcessStatus } from "./process-status.ts";

const report = { ok: true, checks: [{ name: "manager", ok: true, message: "running" }] };
/** As far as a status asks it. */
const manager = { healthz: () => report, readyz: () => report, metrics: () => "" } as unknown as Manager;

afterEach(() => vi.unstubAllEnvs());

async function taken(address: string): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return { port: (server.address() as AddressInfo).port, server };
}

async function startAt(podAddress: string, port: number, lines: string[]): Promise<AsyncDisposable> {
  vi.stubEnv("POD_IP", podAddress);
  const host = systemHost({ write: (line) => lines.push(line) });
  const client = createClient({ send: () => Promise.reject(new Error("nobody is asked")) }, host);
  return serveProcessStatus({
    ...{ manager, host, client, logLevel: new LogLevelControl(), port },
    ...{ inPod: true, metricsAccess: "open", debug: false },
  });
}

test("a sidecar that has a pod's loopback port does not keep it from starting", async () => {
  const { port, server } = await taken("127.0.0.1");
  const lines: string[] = [];
  {
    await using _status = await startAt("::1", port, lines);
    expect((await fetch(`http://[::1]:${port}/healthz`)).status).toBe(200);
  }
  expect(lines.join("")).toContain("Status is not served: the port is taken");
  await new Promise((resolve) => server.close(resolve));
});

test("a pod that cannot listen at its own address does not start", async () => {
  const { port, server } = await taken("::1");
  await expect(startAt("::1", port, [])).rejects.toMatchObject({ code: "EADDRINUSE" });
  await new Promise((resolve) => server.close(resolve));
});
