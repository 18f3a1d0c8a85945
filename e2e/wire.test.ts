/**
 * Both ends of the wire together: our client against our HTTPS server, a fake API behind it and a fake node
 * agent.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  ApiError,
  type ApiRequest,
  type ApiResponse,
  failure,
  type UnstructuredObject,
  type UserInfo,
  type WatchFrame,
} from "@setpoint/apimachinery";
import {
  createAuthenticator,
  createNodeProxy,
  type ListeningServer,
  type NodeProxyOptions,
  serve,
} from "@setpoint/apiserver/http";
import { createCertificateAuthority } from "@setpoint/host/certificates";
import { execInPod, httpTransport, type HttpTransport, writeKubeconfig } from "@setpoint/client/node";
import { noMetrics, silentLogger } from "@setpoint/host";
import { systemClock, systemRandom } from "@setpoint/host/system";
import { expect, test } from "vitest";
import { findBinary } from "./kubectl/binaries.ts";
import { WebSocket, WebSocketServer } from "ws";

const host = { clock: systemClock, random: systemRandom, log: silentLogger, metrics: noMetrics };
const authority = createCertificateAuthority(host);
const hosts = ["localhost", "127.0.0.1"];
const serverPair = authority.issueServer({ commonName: "kube-apiserver", hosts });
const admin = authority.issueClient({ commonName: "admin", organizations: ["system:masters"] });
const toAgents = authority.issueClient({ commonName: "kube-apiserver-kubelet-client" });

type Handle = (request: ApiRequest, user: UserInfo, signal: AbortSignal) => Promise<ApiResponse>;

const authenticate = createAuthenticator({ authorizer: { authorize: () => ({ allowed: true }) } });
const tls = { certificate: serverPair.certificate, key: serverPair.key, clientCa: authority.certificate };

const start = (handle: Handle, more: object = {}): Promise<ListeningServer> =>
  serve({ handle, admit() {} }, { host, tls, authenticate, closeMsMax: 200, ...more });

const connection = (server: ListeningServer) => ({
  server: server.url,
  clock: systemClock,
  ca: authority.certificate,
  cert: admin.certificate,
  key: admin.key,
});
const client = (server: ListeningServer): HttpTransport => httpTransport(connection(server));
const object = (value: unknown, status = 200): ApiResponse => ({ kind: "object", status, headers: {}, object: value });

async function* endless(signal: AbortSignal): AsyncGenerator<WatchFrame> {
  yield { type: "ADDED", object: { kind: "Pod" } };
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}

test("an object goes there and comes back, as the user of the certificate", async () => {
  await using server = await start(async ({ body, query }, user) =>
    object({ body: JSON.parse(String(body)), query, user: user.username }, 201),
  );
  await using transport = client(server);
  const answer = await transport.send({ method: "POST", path: "/api/v1/pods", query: { a: "x y" }, body: { n: "ä" } });
  expect(answer).toMatchObject({ status: 201, object: { body: { n: "ä" }, query: { a: "x y" }, user: "admin" } });
});

test("impersonation travels as headers", async () => {
  await using server = await start(async (_, user) => object(user));
  await using transport = httpTransport({ ...connection(server), impersonate: { user: "bob", groups: ["a", "b"] } });
  const answer = await transport.send({ method: "GET", path: "/api" });
  expect(answer).toMatchObject({ object: { username: "bob", groups: ["a", "b", "system:authenticated"] } });
});

test("a credential that has ended is asked for again, and the request is sent once more", async () => {
  const staticTokens = new Map([["t2", { username: "tom", groups: [] }]]);
  const accept = createAuthenticator({ staticTokens });
  await using server = await start(async (_, user) => object(user), { authenticate: accept });
  let asked = 0;
  const credential = async () => ({ token: `t${++asked}` });
  const { ca } = connection(server);
  await using transport = httpTransport({ server: server.url, clock: systemClock, ca, credential });
  expect(await transport.send({ method: "GET", path: "/api" })).toMatchObject({ object: { username: "tom" } });
  expect(asked).toBe(2);
});

test("a server that goes away breaks the watch; the next request reaches its successor on the same port", async () => {
  const server = await start(async (_, __, signal) => {
    return { kind: "watch", status: 200, headers: {}, frames: endless(signal) };
  });
  await using transport = client(server);
  const answer = await transport.send({ method: "GET", path: "/api/v1/pods", query: { watch: "1" } });
  if (answer.kind !== "watch") throw new Error("expected a watch");
  const frames = answer.frames[Symbol.asyncIterator]();
  expect((await frames.next()).value).toEqual({ type: "ADDED", object: { kind: "Pod" } });
  await server.close();
  // A server that closes in order ends its watches cleanly.
  expect((await frames.next()).done).toBe(true);
  await expect(transport.send({ method: "GET", path: "/api" })).rejects.toMatchObject({
    code: "ERR_CONNECTION_FAILED",
  });
  await using next = await start(async () => object({ again: true }), { port: Number(new URL(server.url).port) });
  expect(next.url).toBe(server.url);
  expect(await transport.send({ method: "GET", path: "/api" })).toMatchObject({ object: { again: true } });
});

test("an aborted request ends with the signal's reason, and on the server too", async () => {
  const left = Promise.withResolvers<void>();
  await using server = await start(async (_, __, signal) => {
    signal.addEventListener("abort", () => left.resolve());
    return { kind: "watch", status: 200, headers: {}, frames: endless(signal) };
  });
  await using transport = client(server);
  const controller = new AbortController();
  const request: ApiRequest = { method: "GET", path: "/api/v1/pods", query: { watch: "true" } };
  const answer = await transport.send(request, controller.signal);
  if (answer.kind !== "watch") throw new Error("expected a watch");
  const frames = answer.frames[Symbol.asyncIterator]();
  await frames.next();
  const rest = frames.next();
  controller.abort(new Error("enough"));
  await expect(rest).rejects.toThrow("enough");
  await left.promise;
});

/** A node agent with one container that echoes stdin and ends with 7. */
async function startAgent(): Promise<{ port: number; paths: string[]; close(): void }> {
  const agentPair = authority.issueServer({ commonName: "node", hosts });
  const paths: string[] = [];
  const options = { cert: agentPair.certificate, key: agentPair.key, ca: authority.certificate, requestCert: true };
  const agent = createServer(options, (request, response) => {
    paths.push(request.url ?? "");
    response.end("line 1\nline 2\n");
  });
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => "v5.channel.k8s.io" });
  agent.on("upgrade", (request, socket, head) => {
    paths.push(request.url ?? "");
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      webSocket.on("message", (data: Buffer) => {
        if (data[0] === 0) webSocket.send(Buffer.concat([Buffer.of(1), data.subarray(1)]));
        if (data[0] !== 255) return;
        const causes = [{ reason: "ExitCode", message: "7" }];
        const status = {
          metadata: {},
          status: "Failure",
          reason: "NonZeroExitCode",
          message: "exit 7",
          details: { causes },
        };
        webSocket.send(Buffer.concat([Buffer.of(3), Buffer.from(JSON.stringify(status))]));
        webSocket.close(1000);
      });
    });
  });
  await new Promise<void>((resolve) => agent.listen(0, "127.0.0.1", resolve));
  return {
    port: (agent.address() as AddressInfo).port,
    paths,
    close: () => {
      agent.closeAllConnections();
      agent.close();
    },
  };
}

function readerOf(port: number) {
  const node: UnstructuredObject = {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n1" },
    status: {
      addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
    },
  };
  const pod: UnstructuredObject = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: "default" },
    spec: { nodeName: "n1", containers: [{ name: "main" }] },
  };
  return {
    get: (_: string, resource: string, __: string, name: string) =>
      [node, pod].find((each) => each.metadata.name === name && resource === `${each.kind.toLowerCase()}s`),
    list: () => [],
    decided: () => [],
  };
}

async function admitAll(): Promise<void> {
  // Admission has no objection.
}

function proxyTo(port: number, allowed: boolean, admit: NodeProxyOptions["admit"] = admitAll) {
  const agentTls = { ca: authority.certificate, cert: toAgents.certificate, key: toAgents.key };
  return createNodeProxy({
    reader: readerOf(port),
    authorizer: { authorize: () => ({ allowed }) },
    authenticate,
    admit,
    tls: agentTls,
  });
}

test("exec goes through to the node agent: stdin, stdout and the exit code", async () => {
  const agent = await startAgent();
  await using server = await start(async () => object({}), { upgrade: proxyTo(agent.port, true).upgrade });
  const output: Uint8Array[] = [];
  const exec = { connection: connection(server), namespace: "default", pod: "web", command: ["sh", "-c", "a b"] };
  async function* stdin() {
    yield Buffer.from("hello ");
    yield Buffer.from("world");
  }
  const result = await execInPod({ ...exec, stdin: stdin(), stdout: (chunk) => output.push(chunk) });
  expect(result).toEqual({ exitCode: 7, message: "exit 7" });
  expect(Buffer.concat(output).toString()).toBe("hello world");
  expect(agent.paths).toEqual(["/exec/default/web/main?input=1&output=1&command=sh&command=-c&command=a+b"]);
  await expect(execInPod({ ...exec, pod: "gone" })).rejects.toThrow('Cannot exec in Pod "gone": pods "gone" not found');
  agent.close();
});

test("exec without the right is refused before anything is dialled", async () => {
  await using server = await start(async () => object({}), { upgrade: proxyTo(1, false).upgrade });
  const exec = { connection: connection(server), namespace: "default", pod: "web", command: ["ls"] };
  await expect(execInPod(exec)).rejects.toThrow(
    'pods "web" is forbidden: User "admin" cannot get resource "pods/exec" in API group "" in the namespace "default"',
  );
});

test("exec that admission refuses is answered with its reason before anything is dialled", async () => {
  const seen: object[] = [];
  const proxy = proxyTo(1, true, async ({ subresource, name }, options) => {
    seen.push({ subresource, name, ...options });
    throw new ApiError(failure(400, "BadRequest", "exec is not allowed here"));
  });
  await using server = await start(async () => object({}), { upgrade: proxy.upgrade });
  const exec = { connection: connection(server), namespace: "default", pod: "web", command: ["ls", "-l"] };
  await expect(execInPod(exec)).rejects.toThrow("exec is not allowed here");
  expect(seen).toEqual([{ subresource: "exec", name: "web", stdout: true, command: ["ls", "-l"] }]);
});

test("logs come from the node agent as bytes", async () => {
  const agent = await startAgent();
  const endpoint = proxyTo(agent.port, true).endpoints.get("GET v1/pods/log");
  if (endpoint === undefined) throw new Error("expected an endpoint");
  await using server = await start((request, user, signal) => {
    const place = { group: "", version: "v1", resource: "pods", subresource: "log", namespace: "default", name: "web" };
    const attributes = { user, verb: "get", isResourceRequest: true, path: request.path, ...place };
    return endpoint({ request, attributes, body: undefined, signal });
  });
  await using transport = client(server);
  const path = "/api/v1/namespaces/default/pods/web/log";
  const answer = await transport.send({ method: "GET", path, query: { tailLines: "2" } });
  if (answer.kind !== "bytes") throw new Error("expected bytes");
  expect(Buffer.concat(await Array.fromAsync(answer.bytes)).toString()).toBe("line 1\nline 2\n");
  expect(agent.paths).toEqual(["/containerLogs/default/web/main?tailLines=2"]);
  agent.close();
});

test.each([
  ["binary.k8s.io", "line 1\nline 2\n"],
  ["base64.binary.k8s.io", Buffer.from("line 1\nline 2\n").toString("base64")],
])("logs come over a WebSocket that speaks %s", async (protocol, text) => {
  const agent = await startAgent();
  await using server = await start(async () => object({}), { upgrade: proxyTo(agent.port, true).upgrade });
  const { ca, cert, key } = connection(server);
  const path = "/api/v1/namespaces/default/pods/web/log?container=main&tailLines=2";
  const socket = new WebSocket(`${server.url.replace("https:", "wss:")}${path}`, [protocol], { ca, cert, key });
  let got = "";
  socket.on("message", (data: Buffer) => (got += data.toString()));
  const code = await new Promise<number>((resolve, reject) => socket.once("close", resolve).once("error", reject));
  expect([socket.protocol, got, code]).toEqual([protocol, text, 1000]);
  expect(agent.paths).toEqual(["/containerLogs/default/web/main?tailLines=2"]);
  agent.close();
});

test("kubectl asks with a kubeconfig that we wrote", async () => {
  await using server = await start(async (_, user) =>
    object({ kind: "SelfSubjectReview", apiVersion: "authentication.k8s.io/v1", status: { userInfo: user } }, 201),
  );
  const folder = mkdtempSync(join(tmpdir(), "setpoint-wire-"));
  const path = join(folder, "kubeconfig");
  const { ca, cert, key } = connection(server);
  writeFileSync(path, writeKubeconfig({ server: server.url, ca, cert, key, context: "setpoint" }));
  const run = promisify(execFile);
  const { stdout } = await run(findBinary("kubectl"), ["--kubeconfig", path, "auth", "whoami", "-o", "json"]);
  expect(JSON.parse(stdout)).toMatchObject({ status: { userInfo: { username: "admin" } } });
  rmSync(folder, { recursive: true });
});
