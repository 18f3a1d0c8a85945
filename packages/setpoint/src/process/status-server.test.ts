import { get } from "node:http";
import { createClient } from "@setpoint/client";
import { ClusterRole, ClusterRoleBinding, ServiceAccount } from "@setpoint/api";
import { startControlPlane } from "@setpoint/controlplane";
import { systemHost } from "@setpoint/host/system";
import type { HealthReport, WhyReport } from "@setpoint/runtime";
import { LogLevelControl, openAccess, Profiler, reviewedAccess, serveStatus } from "setpoint/process";
import { expect, test } from "vitest";

const report: WhyReport = {
  ...{ controller: "candy", object: { kind: "Candy", namespace: "default", name: "lolly" }, isPresent: true },
  ...{ state: "idle", failures: 0, pending: [], runs: [], conditions: [] },
};

const health: HealthReport = {
  ok: false,
  checks: [
    { name: "watch candies.example.com", ok: false, message: "last heard 500 s ago" },
    { name: "west: cache candies", ok: false, message: "not complete", isWarning: true },
  ],
};

const manager = {
  healthz: () => ({ ok: true, checks: [{ name: "manager", ok: true, message: "running" }] }),
  readyz: () => health,
  metrics: () => "workqueue_depth 0\n",
  why: ({ kind }: { readonly kind: string }) => Promise.resolve(kind === "Candy" ? report : undefined),
};

const host = systemHost({ write: () => {} });
const loopback = { manager, address: "127.0.0.1", port: 0 };

async function ask(
  port: number,
  path: string,
  init: RequestInit = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
  return { status: response.status, text: await response.text() };
}

/** Asks by a name that a page in a browser could have. */
function textAs(name: string, port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ host: "127.0.0.1", port, path, headers: { host: name } }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve(`${response.statusCode} ${text}`));
    }).on("error", reject);
  });
}

const bearer = (token: string): RequestInit => ({ headers: { authorization: `Bearer ${token}` } });

test("probes are for everybody, and name what is ill, but not in words that may hold names or passwords", async () => {
  await using server = await serveStatus({ ...loopback, access: () => Promise.resolve("forbidden") });
  expect(await ask(server.port, "/healthz")).toEqual({ status: 200, text: "[+]manager ok\n" });
  expect(await ask(server.port, "/readyz")).toEqual({
    status: 500,
    text: "[-]watch candies.example.com not ok\n[!]west: cache candies not ok\n",
  });
  expect((await ask(server.port, "/metrics")).status).toBe(403);
});

test("why a check is ill is for clients that may get its path", async () => {
  await using server = await serveStatus({
    ...loopback,
    access: ({ token, path }) =>
      Promise.resolve(token === "good" && path === "/readyz" ? "allowed" : "unauthenticated"),
  });
  const details = "[-]watch candies.example.com last heard 500 s ago\n[!]west: cache candies not complete\n";
  expect(await ask(server.port, "/readyz", bearer("good"))).toEqual({ status: 500, text: details });
  expect((await ask(server.port, "/readyz", bearer("bad"))).text).not.toContain("last heard");
  await using desk = await serveStatus({ ...loopback, access: openAccess, isLoopback: true });
  expect((await ask(desk.port, "/readyz")).text).toBe(details);
  expect(await textAs("evil.example.com", desk.port, "/readyz")).not.toContain("last heard");
});

test("metrics are for those whose token the cluster knows and whose role allows the path", async () => {
  await using plane = await startControlPlane({ host, controllers: false });
  const { transport } = plane;
  const client = createClient(transport, host);
  const names = { prometheus: "prometheus", stranger: "stranger" };
  for (const name of Object.values(names))
    await client.create(ServiceAccount, ServiceAccount({ name, namespace: "default" }));
  const rules = [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }];
  await client.create(ClusterRole, ClusterRole({ name: "metrics-reader", rules }));
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "metrics-reader" };
  const subjects = [{ kind: "ServiceAccount", name: names.prometheus, namespace: "default" }];
  await client.create(ClusterRoleBinding, ClusterRoleBinding({ name: "prometheus", roleRef, subjects }));
  const tokenOf = async (name: string): Promise<string> => {
    const path = `/api/v1/namespaces/default/serviceaccounts/${name}/token`;
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 3_600 } };
    const response = await client.request({ method: "POST", path, body });
    if (response.kind !== "object") throw new Error("expected a token");
    return (response.object as { readonly status: { readonly token: string } }).status.token;
  };

  let reviews = 0;
  const counting = createClient({ send: (request, signal) => (reviews++, transport.send(request, signal)) }, host);
  await using server = await serveStatus({
    ...loopback,
    access: reviewedAccess({ client: counting, clock: host.clock, log: host.log }),
  });
  expect((await ask(server.port, "/metrics")).status).toBe(401);
  expect((await ask(server.port, "/metrics", bearer("made-up"))).status).toBe(401);
  expect((await ask(server.port, "/metrics", bearer(await tokenOf(names.stranger)))).status).toBe(403);
  const token = await tokenOf(names.prometheus);
  expect(await ask(server.port, "/metrics", bearer(token))).toEqual({ status: 200, text: "workqueue_depth 0\n" });
  const before = reviews;
  expect((await ask(server.port, "/metrics", bearer(token))).status).toBe(200);
  expect(reviews).toBe(before);
  // The role says nothing of the other paths.
  expect((await ask(server.port, "/debug/why?kind=Candy&name=lolly", bearer(token))).status).toBe(403);
});

test("why is answered as JSON", async () => {
  await using server = await serveStatus({ ...loopback, access: openAccess });
  expect(JSON.parse((await ask(server.port, "/debug/why?kind=Candy&name=lolly")).text)).toEqual(report);
  expect(await ask(server.port, "/debug/why?kind=Cake&name=x")).toEqual({
    status: 404,
    text: "Cannot explain an object: no controller here reconciles Cake\n",
  });
  expect((await ask(server.port, "/debug/why?kind=Cake")).status).toBe(400);
});

test("the log level changes while the process runs, and wrong ones are refused", async () => {
  const logLevel = new LogLevelControl();
  const lines: string[] = [];
  const { log } = systemHost({ level: () => logLevel.level, write: (line) => lines.push(line) });
  const debug = { logLevel, profiler: new Profiler(host.clock) };
  await using server = await serveStatus({ ...loopback, access: openAccess, debug });
  log.debug("before");
  expect(await ask(server.port, "/debug/log-level", { method: "PUT", body: "debug" })).toEqual({
    status: 200,
    text: "debug\n",
  });
  log.debug("after");
  expect(lines.map((line) => (JSON.parse(line) as { readonly message: string }).message)).toEqual(["after"]);
  expect((await ask(server.port, "/debug/log-level", { method: "PUT", body: "loud" })).status).toBe(400);
  expect((await ask(server.port, "/debug/log-level", { method: "PUT", body: "x".repeat(100_000) })).status).toBe(400);
});

test.each(["cpu", "heap"])("a %s profile is taken of the running process, one at a time", async (kind) => {
  const debug = { logLevel: new LogLevelControl(), profiler: new Profiler(host.clock) };
  await using server = await serveStatus({ ...loopback, access: openAccess, debug });
  const first = ask(server.port, `/debug/profile/${kind}?seconds=0.3`);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect((await ask(server.port, "/debug/profile/cpu?seconds=1")).status).toBe(429);
  const profile = JSON.parse((await first).text) as Record<string, unknown>;
  expect(Object.keys(profile)).toContain(kind === "cpu" ? "nodes" : "head");
});

test("debug paths are not there unless they are asked for, and a desk's server answers no foreign name", async () => {
  await using server = await serveStatus({ ...loopback, access: openAccess, isLoopback: true });
  expect((await ask(server.port, "/debug/log-level")).status).toBe(404);
  expect((await ask(server.port, "/debug/profile/cpu")).status).toBe(404);
  expect((await ask(server.port, "/metrics")).status).toBe(200);
  expect(await textAs("evil.example.com", server.port, "/metrics")).toMatch(/^403 /);
});
