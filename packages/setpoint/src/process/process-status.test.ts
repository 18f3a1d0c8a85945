import { type AddressInfo, createServer, type Server } from "node:net";
import { createClient } from "@setpoint/client";
import { systemHost } from "@setpoint/host/system";
import type { Manager } from "@setpoint/runtime";
import { afterEach, expect, test, vi } from "vitest";
import { installManifests } from "../install-manifests.ts";
import { defineOperator } from "../operator.ts";
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

async function startAt(
  podAddress: string,
  port: number,
  lines: string[],
  metricsAccess: "open" | "token" = "open",
): Promise<AsyncDisposable> {
  vi.stubEnv("POD_IP", podAddress);
  const host = systemHost({ write: (line) => lines.push(line) });
  const client = createClient({ send: () => Promise.reject(new Error("nobody is asked")) }, host);
  return serveProcessStatus({
    ...{ manager, host, client, logLevel: new LogLevelControl(), port },
    ...{ inPod: true, metricsAccess, debug: false },
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

test("in a pod the metrics are for whom the server knows, unless they are open to everybody", async () => {
  const { port, server } = await taken("::1");
  await new Promise((resolve) => server.close(resolve));
  const statusOf = async (path: string, token?: string): Promise<number> => {
    const headers = { connection: "close", ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
    return (await fetch(`http://[::1]:${port}${path}`, { headers })).status;
  };
  {
    await using _status = await startAt("::1", port, [], "token");
    expect(await statusOf("/metrics")).toBe(401);
    // The server does not answer, so nobody is let in.
    expect(await statusOf("/metrics", "somebody's")).toBe(503);
    expect(await statusOf("/healthz")).toBe(200);
  }
  await using _status = await startAt("::1", port, [], "open");
  expect(await statusOf("/metrics")).toBe(200);
  expect(await statusOf("/debug/why?kind=Candy&name=lolly")).toBe(401);
});

test("the manifests grant what it takes to ask who reads the metrics", () => {
  const manifests = installManifests(defineOperator({ name: "candy", controllers: [] }), {
    image: "candy:1",
    namespace: "ops",
  });
  const role = manifests.find(({ kind }) => kind === "ClusterRole") as { readonly rules?: unknown } | undefined;
  expect(role?.rules).toEqual([
    expect.objectContaining({ resources: ["events"] }),
    { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
    { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
  ]);
});
