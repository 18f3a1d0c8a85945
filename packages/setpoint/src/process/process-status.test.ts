import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { get as getWithTls } from "node:https";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { createClient } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import { createCertificateAuthority } from "@setpoint/host/certificates";
import { simulatedHost } from "@setpoint/host/simulated";
import { systemHost } from "@setpoint/host/system";
import type { Manager } from "@setpoint/runtime";
import { afterEach, expect, test, vi } from "vitest";
import { installManifests } from "../install-manifests.ts";
import { defineOperator } from "../operator.ts";
import { LogLevelControl } from "./log-level.ts";
import { deskPorts } from "../status-ports.ts";
import { serveProcessStatus } from "./process-status.ts";
import type { CertificateFiles } from "./status-certificate.ts";

const report = { ok: true, checks: [{ name: "manager", ok: true, message: "running" }] };
/** As far as a status asks it. */
const manager = { healthz: () => report, readyz: () => report, metrics: () => "" } as unknown as Manager;

afterEach(() => vi.unstubAllEnvs());

async function taken(address: string): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return { port: (server.address() as AddressInfo).port, server };
}

interface Start {
  readonly port: number;
  readonly tlsPort?: number;
  readonly lines?: string[];
  readonly metricsAccess?: "open" | "token";
  readonly certificate?: CertificateFiles;
  readonly host?: Host;
}

async function startAt(podAddress: string, start: Start): Promise<AsyncDisposable> {
  const { port, tlsPort = 0, lines = [], metricsAccess = "open", certificate } = start;
  vi.stubEnv("POD_IP", podAddress);
  const { host = systemHost({ write: (line) => lines.push(line) }) } = start;
  const client = createClient({ send: () => Promise.reject(new Error("nobody is asked")) }, host);
  return serveProcessStatus({
    ...{ manager, host, client, logLevel: new LogLevelControl(), port, tlsPort, inPod: true, debug: false },
    ...{ metricsAccess, ...(certificate === undefined ? {} : { certificate }) },
  });
}

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const { port, server } = await taken("::1");
  await new Promise((resolve) => server.close(resolve));
  return port;
}

interface TlsAnswer {
  readonly status: number | undefined;
  /** Of the certificate that the server has shown. */
  readonly issuer: unknown;
  readonly names: string | undefined;
  readonly serial: string;
  /** Milliseconds since 1970. */
  readonly untilMs: number;
}

function askWithTls(port: number, path: string, token?: string): Promise<TlsAnswer> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    getWithTls({ host: "::1", port, path, headers, agent: false, rejectUnauthorized: false }, (response) => {
      const {
        issuer,
        subjectaltname,
        serialNumber,
        valid_to: until,
      } = (response.socket as TLSSocket).getPeerCertificate();
      const shown = { issuer: issuer.CN, names: subjectaltname, serial: serialNumber, untilMs: Date.parse(until) };
      response.resume().on("end", () => resolve({ status: response.statusCode, ...shown }));
    }).on("error", reject);
  });
}

test("a sidecar that has a pod's loopback port does not keep it from starting", async () => {
  const { port, server } = await taken("127.0.0.1");
  const lines: string[] = [];
  {
    await using _status = await startAt("::1", { port, lines });
    expect((await fetch(`http://[::1]:${port}/healthz`)).status).toBe(200);
  }
  expect(lines.join("")).toContain("Status is not served: the port is taken");
  await new Promise((resolve) => server.close(resolve));
});

test("a pod that cannot listen at its own address does not start", async () => {
  const { port, server } = await taken("::1");
  await expect(startAt("::1", { port })).rejects.toMatchObject({ code: "EADDRINUSE" });
  await new Promise((resolve) => server.close(resolve));
});

test("24 2.7: several operators on a desk answer on a port each", async () => {
  const lines: string[] = [];
  const host = systemHost({ write: (line) => lines.push(line) });
  const client = createClient({ send: () => Promise.reject(new Error("nobody is asked")) }, host);
  const start = () =>
    serveProcessStatus({
      ...{ manager, host, client, logLevel: new LogLevelControl(), inPod: false, debug: false, metricsAccess: "open" },
    });
  const answering = async (): Promise<number> => {
    const ask = (port: number) => fetch(`http://127.0.0.1:${port}/healthz`, { headers: { connection: "close" } });
    const answers = await Promise.allSettled(deskPorts.map(ask));
    return answers.filter(({ status }) => status === "fulfilled").length;
  };
  const before = await answering();
  await using _one = await start();
  await using _two = await start();
  expect(await answering()).toBe(before + 2);
  expect(lines.join("")).toContain("Status is served");
  expect(lines.join("")).not.toContain("the port is taken");
});

test("an operator on a desk logs the port that it got when it was asked for any free one", async () => {
  const lines: string[] = [];
  const host = systemHost({ write: (line) => lines.push(line) });
  const client = createClient({ send: () => Promise.reject(new Error("nobody is asked")) }, host);
  await using _status = await serveProcessStatus({
    ...{ manager, host, client, logLevel: new LogLevelControl(), inPod: false, debug: false, metricsAccess: "open" },
    port: 0,
  });
  const { message, port } = JSON.parse(lines[0] ?? "{}") as { readonly message?: string; readonly port?: number };
  expect(message).toBe("Status is served");
  expect((await fetch(`http://127.0.0.1:${port}/healthz`, { headers: { connection: "close" } })).status).toBe(200);
});

test("in a pod metrics are for whom the server knows, and no token is asked for without TLS", async () => {
  const [port, tlsPort] = [await freePort(), await freePort()];
  const statusOf = async (path: string, token?: string): Promise<number> => {
    const headers = { connection: "close", ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
    return (await fetch(`http://[::1]:${port}${path}`, { headers })).status;
  };
  {
    await using _status = await startAt("::1", { port, tlsPort, metricsAccess: "token" });
    expect((await askWithTls(tlsPort, "/metrics")).status).toBe(401);
    // The server does not answer, so nobody is let in.
    expect((await askWithTls(tlsPort, "/metrics", "other-token")).status).toBe(503);
    expect(await statusOf("/metrics", "other-token")).toBe(403);
    expect(await statusOf("/debug/why?kind=Candy&name=lolly", "other-token")).toBe(403);
    expect(await statusOf("/healthz")).toBe(200);
  }
  await using _status = await startAt("::1", { port, tlsPort, metricsAccess: "open" });
  expect(await statusOf("/metrics")).toBe(200);
  expect((await askWithTls(tlsPort, "/metrics")).status).toBe(200);
  expect(await statusOf("/debug/why?kind=Candy&name=lolly")).toBe(403);
  expect((await askWithTls(tlsPort, "/debug/why?kind=Candy&name=lolly")).status).toBe(401);
});

test("a pod whose port for metrics is taken says so, and is there all the same", async () => {
  const { port: tlsPort, server } = await taken("::1");
  const [port, lines] = [await freePort(), []];
  {
    await using _status = await startAt("::1", { port, tlsPort, lines });
    expect((await fetch(`http://[::1]:${port}/healthz`)).status).toBe(200);
  }
  expect(lines.join("")).toContain("Status is not served: the port is taken, so Prometheus finds no metrics here");
  await new Promise((resolve) => server.close(resolve));
});

test("the process's own certificate is for its address, and another one before it ends", async () => {
  const host = simulatedHost(1);
  const tlsPort = await freePort();
  await using _status = await startAt("::1", { port: await freePort(), tlsPort, host });
  const shown = async (): Promise<string> => {
    const { serial, ...answer } = await askWithTls(tlsPort, "/healthz");
    expect(answer).toMatchObject({ issuer: "setpoint-operator", names: "IP Address:0:0:0:0:0:0:0:1" });
    return serial;
  };
  const first = await shown();
  await host.clock.run(59 * 24 * 3_600_000);
  expect(await shown()).toBe(first);
  await host.clock.run(2 * 24 * 3_600_000);
  expect(await shown()).not.toBe(first);
  // Longer than its authority is good for.
  await host.clock.run(400 * 24 * 3_600_000);
  expect((await askWithTls(tlsPort, "/healthz")).untilMs).toBeGreaterThan(host.clock.now() + 29 * 24 * 3_600_000);
});

test("a certificate in files is served, also the one that takes its place; one that cannot be read is reported", async () => {
  const folder = await mkdtemp(join(tmpdir(), "setpoint-status-"));
  const files = { certificateFile: join(folder, "tls.crt"), keyFile: join(folder, "tls.key") };
  const host = simulatedHost(1);
  const warnings: string[] = [];
  const log = { ...host.log, warn: (message: string) => void warnings.push(message) };
  const put = async (commonName: string): Promise<void> => {
    const authority = createCertificateAuthority({ ...host, commonName });
    const { certificate, key } = authority.issueServer({ commonName: "metrics", hosts: ["::1"] });
    await Promise.all([writeFile(files.certificateFile, certificate), writeFile(files.keyFile, key)]);
  };
  const start = { port: await freePort(), tlsPort: await freePort(), certificate: files, host: { ...host, log } };
  await expect(startAt("::1", start)).rejects.toMatchObject({ code: "ERR_BAD_CERTIFICATE_FILE" });
  await put("first");
  {
    await using _status = await startAt("::1", start);
    expect((await askWithTls(start.tlsPort, "/healthz")).issuer).toBe("first");
    await put("second");
    await host.clock.run(601_000);
    expect((await askWithTls(start.tlsPort, "/healthz")).issuer).toBe("second");
    await writeFile(files.keyFile, "no key");
    await host.clock.run(601_000);
    expect((await askWithTls(start.tlsPort, "/healthz")).issuer).toBe("second");
    expect(warnings).toEqual(["Certificate of the metrics is not replaced: the one before is served on"]);
    await put("third");
    await host.clock.run(601_000);
    expect((await askWithTls(start.tlsPort, "/healthz")).issuer).toBe("third");
  }
  await writeFile(files.certificateFile, "no certificate");
  await expect(startAt("::1", start)).rejects.toThrow(/Cannot serve the metrics with ".*tls.crt" and ".*tls.key"/);
  await rm(folder, { recursive: true });
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
