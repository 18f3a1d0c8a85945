/**
 * The node agent's own port, attacked by neighbours on the network, by local users and by accounts without
 * rights.
 */
import { readFileSync } from "node:fs";
import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { connect, type TLSSocket } from "node:tls";
import { ClusterRole, ClusterRoleBinding, Node, Pod, ServiceAccount } from "@setpoint/api";
import type { KubeObject } from "@setpoint/apimachinery";
import { CertificateAuthority } from "@setpoint/host/certificates";
import { systemHost } from "@setpoint/host/system";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RawAnswer, Target } from "./target.ts";

const directory = mkdtempSync(join(tmpdir(), "setpoint-attack-kubelet-"));
let target: Target;
let kubelet: { readonly host: string; readonly port: number };

interface Identity {
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
}

beforeAll(async () => {
  target = await Target.start({ directory });
  const { status } = await target.admin.get(Node, { name: "node-1" });
  const host = status?.addresses?.find(({ type }) => type === "InternalIP")?.address ?? "";
  // Its address in the network of the pods begins with 10, and that on this host with 127.
  kubelet = { host: host.replace(/^10/, "127"), port: status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0 };
});

afterAll(async () => {
  await target[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

function dial({ cert, key }: Identity = {}): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const identity = cert === undefined || key === undefined ? {} : { cert, key };
    const socket = connect({ ...kubelet, ...identity, rejectUnauthorized: false });
    socket.once("error", reject);
    socket.once("secureConnect", () => {
      socket.off("error", reject);
      socket.on("error", () => {});
      socket.resume();
      resolve(socket);
    });
  });
}

/**
 * Sends bytes as they are; answers what comes back until the connection ends, or a second passes in silence.
 */
async function send(bytes: string, identity: Identity = {}): Promise<string> {
  const socket = await dial(identity);
  let answer = "";
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString("latin1")));
  const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.write(bytes);
  await Promise.race([ended, delay(1_500)]);
  socket.destroy();
  return answer;
}

function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0);
}

function get(path: string, identity: Identity = {}, method = "GET"): Promise<string> {
  const token = identity.token === undefined ? "" : `Authorization: Bearer ${identity.token}\r\n`;
  return send(`${method} ${path} HTTP/1.1\r\nHost: node\r\nConnection: close\r\n${token}\r\n`, identity);
}

function upgrade(path: string, identity: Identity = {}): Promise<string> {
  const token = identity.token === undefined ? "" : `Authorization: Bearer ${identity.token}\r\n`;
  const key = createHash("sha1").update(randomBytes(16)).digest("base64").slice(0, 24);
  const webSocket = `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n`;
  const protocol = "Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n";
  return send(`GET ${path} HTTP/1.1\r\nHost: node\r\n${webSocket}${protocol}${token}\r\n`, identity);
}

/** A certificate that the cluster's authority signed, of a user without any right. */
function mallory(): Identity {
  const read = (name: string): string => readFileSync(join(directory, "pki", name), "utf8");
  const authority = new CertificateAuthority({ certificate: read("ca.crt"), key: read("ca.key") }, systemHost());
  const { certificate, key } = authority.issueClient({ commonName: "mallory", organizations: [] });
  return { cert: certificate, key };
}

async function tokenOf(name: string): Promise<string> {
  const account = ServiceAccount({ name, namespace: "default" });
  await target.admin.apply(ServiceAccount, account, { fieldManager: "attack", force: true });
  const answer = await target.raw({
    method: "POST",
    path: `/api/v1/namespaces/default/serviceaccounts/${name}/token`,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} }),
    as: "admin",
  });
  return (JSON.parse(answer.body) as { status: { token: string } }).status.token;
}

/** The identity of the agent's process: a new one means that the old one ended. */
async function agentStarts(): Promise<number> {
  const events = await target.raw({ path: "/api/v1/namespaces/default/events", as: "admin" });
  const { items } = JSON.parse(events.body) as { items: readonly (KubeObject & { reason: string; count: number })[] };
  return items.filter(({ reason }) => reason === "Starting").length;
}

const brokenPaths = [
  "/%zz",
  "//",
  "/exec/%zz/a/b",
  "/%",
  "/exec/a%00/b/c",
  "http://[",
  "/containerLogs/%c0%ae/%2e%2e/x",
  "*",
];

test.each(brokenPaths)("a path that cannot be read (%s) is refused, and the agent goes on", async (path) => {
  const starts = await agentStarts();
  expect([400, 401]).toContain(statusOf(await get(path)));
  expect([400, 401]).toContain(statusOf(await upgrade(path)));
  expect([400, 403]).toContain(statusOf(await get(path, mallory())));
  expect([400, 403]).toContain(statusOf(await upgrade(path, mallory())));
  expect(statusOf(await get("/pods"))).toBe(401);
  expect(await agentStarts()).toBe(starts);
});

test("without a certificate or token every path is 401, /healthz as well", async () => {
  for (const path of [
    "/",
    "/healthz",
    "/pods",
    "/containerLogs/a/b/c",
    "/exec/a/b/c",
    "/debug/processes/a/b/c",
    "/no",
  ]) {
    expect([path, statusOf(await get(path))]).toEqual([path, 401]);
    expect([path, statusOf(await upgrade(path))]).toEqual([path, 401]);
  }
});

test("a certificate of the cluster's authority alone opens nothing", async () => {
  const identity = mallory();
  for (const path of ["/healthz", "/pods", "/configz", "/metrics", "/stats/summary", "/logs/", "/containerLogs/a/b/c"])
    expect([path, statusOf(await get(path, identity))]).toEqual([path, 403]);
  for (const path of ["/exec/a/b/c?command=id", "/portForward/a/b?ports=1", "/attach/a/b/c", "/run/a/b/c"])
    expect([path, statusOf(await upgrade(path, identity))]).toEqual([path, 403]);
  expect(await get("/exec/a/b/c", identity, "POST")).toContain("user=mallory, verb=create, resource=nodes");
});

test("a service account reads what its rights name, and its token is checked", async () => {
  const token = await tokenOf("reader");
  expect(statusOf(await get("/containerLogs/a/b/c", { token }))).toBe(403);
  expect(statusOf(await get("/healthz", { token: `${token}x` }))).toBe(401);
  const role = ClusterRole({
    name: "kubelet-health",
    rules: [{ apiGroups: [""], resources: ["nodes/healthz"], verbs: ["get"] }],
  });
  const binding = ClusterRoleBinding({
    name: "kubelet-health",
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "kubelet-health" },
    subjects: [{ kind: "ServiceAccount", name: "watcher", namespace: "default" }],
  });
  await target.admin.apply(ClusterRole, role, { fieldManager: "attack", force: true });
  await target.admin.apply(ClusterRoleBinding, binding, { fieldManager: "attack", force: true });
  const watcher = await tokenOf("watcher");
  expect(statusOf(await get("/healthz", { token: watcher }))).toBe(200);
  expect(statusOf(await upgrade("/exec/a/b/c?command=id", { token: watcher }))).toBe(403);
});

test("silent and slow connections do not keep the API server out", async () => {
  const starts = await agentStarts();
  const pod = Pod({
    name: "waiting",
    namespace: "default",
    spec: {
      nodeName: "node-1",
      containers: [{ name: "main", image: "none.invalid/none:1", imagePullPolicy: "Never" }],
    },
  });
  await target.admin.apply(Pod, pod, { fieldManager: "attack", force: true });
  const askForLog = (): Promise<RawAnswer> =>
    target.raw({ path: "/api/v1/namespaces/default/pods/waiting/log", as: "admin" });
  await expect.poll(async () => (await askForLog()).body).toContain("is waiting to start");
  const sockets = await Promise.all(Array.from({ length: 600 }, () => dial().catch(() => undefined)));
  for (const socket of sockets) socket?.write("GET /healthz HTTP/1.1\r\nx: ");
  expect((await askForLog()).body).toContain("is waiting to start");
  expect(statusOf(await get("/healthz"))).toBe(401);
  const isOver = (): boolean => sockets.every((socket) => socket === undefined || socket.destroyed);
  await expect.poll(isOver, { timeout: 20_000 }).toBe(true);
  expect(await agentStarts()).toBe(starts);
});

test("headers without end and a body that nobody reads are cut", async () => {
  const starts = await agentStarts();
  const long = `GET / HTTP/1.1\r\nHost: node\r\nx: ${"a".repeat(200_000)}\r\n\r\n`;
  expect([0, 431]).toContain(statusOf(await send(long)));
  const body = "x".repeat(1_000_000);
  expect([0, 401]).toContain(
    statusOf(await send(`POST /exec/a/b/c HTTP/1.1\r\nHost: node\r\nContent-Length: 100000000\r\n\r\n${body}`)),
  );
  expect(statusOf(await get("/healthz"))).toBe(401);
  expect(await agentStarts()).toBe(starts);
});
