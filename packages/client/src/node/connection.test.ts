import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import { connect as connectTcp, type AddressInfo } from "node:net";
import { createServer as createProxyServer } from "node:http";
import { tmpdir } from "node:os";
import type { TLSSocket } from "node:tls";
import { join } from "node:path";
import type { Clock } from "@setpoint/host";
import { createCertificateAuthority } from "@setpoint/host/certificates";
import { systemClock, systemRandom } from "@setpoint/host/system";
import { afterAll, afterEach, expect, test } from "vitest";
import { httpTransport } from "./http-transport.ts";

const folder = mkdtempSync(join(tmpdir(), "setpoint-connection-"));
const caFile = join(folder, "ca.crt");
const tokenFile = join(folder, "token");
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

const servers: Server[] = [];
const seen: (readonly [
  token: string | undefined,
  user: string | undefined,
  groups: string | undefined,
  name: string,
])[] = [];

/** A server whose certificate is of a new authority, which is written to the file that pods are given. */
async function serve(hosts: readonly string[] = ["127.0.0.1"], port = 0): Promise<number> {
  const authority = createCertificateAuthority({ clock: systemClock, random: systemRandom });
  const { certificate, key } = authority.issueServer({ commonName: "kube-apiserver", hosts });
  writeFileSync(caFile, authority.certificate);
  const server = createServer({ cert: certificate, key }, (request, response) => {
    const { authorization, "impersonate-user": user, "impersonate-group": groups } = request.headers;
    const name = "servername" in request.socket ? String(request.socket.servername) : "";
    seen.push([authorization, user as string | undefined, groups as string | undefined, name]);
    const isGood = authorization === undefined || authorization.endsWith("good");
    response.writeHead(isGood ? 200 : 401, { "content-type": "application/json" }).end("{}");
  });
  servers.push(server);
  await new Promise<void>((resolve) => void server.listen(port, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

const version = { method: "GET", path: "/version" } as const;

test("a pod's token is read again after a minute, and at once when the server does not take it", async () => {
  let nowMs = 0;
  const clock: Clock = { ...systemClock, monotonic: () => nowMs };
  const port = await serve();
  writeFileSync(tokenFile, "1-good");
  await using transport = httpTransport({ server: `https://127.0.0.1:${port}`, clock, caFile, tokenFile });
  const token = async (): Promise<string | undefined> => {
    expect((await transport.send(version)).status).toBe(200);
    return seen.at(-1)?.[0];
  };
  expect(await token()).toBe("Bearer 1-good");
  writeFileSync(tokenFile, "2-good");
  expect(await token()).toBe("Bearer 1-good");
  nowMs += 60_000;
  expect(await token()).toBe("Bearer 2-good");
  writeFileSync(tokenFile, "3-bad");
  nowMs += 60_000;
  const sent = transport.send(version);
  expect((await sent).status).toBe(401);
  writeFileSync(tokenFile, "4-good");
  expect(await token()).toBe("Bearer 4-good");
});

test("a pod's authority is read at each connection, so it may rotate", async () => {
  const port = await serve();
  const server = `https://127.0.0.1:${port}`;
  await using before = httpTransport({ server, clock: systemClock, caFile });
  expect((await before.send(version)).status).toBe(200);
  const [old] = servers.splice(0);
  old?.closeAllConnections();
  await new Promise<void>((resolve) => void old?.close(() => resolve()));
  await serve(["127.0.0.1"], port);
  await using after = httpTransport({ server, clock: systemClock, caFile });
  expect((await after.send(version)).status).toBe(200);
});

test("a server of another name is refused, unless tls-server-name names it or nothing is checked", async () => {
  const server = `https://127.0.0.1:${await serve(["api.example.com"])}`;
  await using strict = httpTransport({ server, clock: systemClock, caFile });
  await expect(strict.send(version)).rejects.toThrow(`Cannot connect to "${server}"`);
  await using named = httpTransport({ server, clock: systemClock, caFile, serverName: "api.example.com" });
  expect((await named.send(version)).status).toBe(200);
  expect(seen.at(-1)?.[3]).toBe("api.example.com");
  await using careless = httpTransport({ server, clock: systemClock, insecureSkipTlsVerify: true });
  expect((await careless.send(version)).status).toBe(200);
});

test("the impersonated user is named in every request", async () => {
  const server = `https://127.0.0.1:${await serve()}`;
  const impersonate = { user: "jane", groups: ["dev"] };
  await using transport = httpTransport({ server, clock: systemClock, caFile, impersonate });
  await transport.send(version);
  expect(seen.at(-1)?.slice(1, 3)).toEqual(["jane", "dev"]);
});

test("after a new certificate of an exec plugin no request comes with the old one", async () => {
  const authority = createCertificateAuthority({ clock: systemClock, random: systemRandom });
  const { certificate, key } = authority.issueServer({ commonName: "kube-apiserver", hosts: ["127.0.0.1"] });
  const names: string[] = [];
  const tls = { cert: certificate, key, ca: authority.certificate, requestCert: true, rejectUnauthorized: true };
  const server = createServer(tls, (request, response) => {
    const socket = request.socket as TLSSocket;
    const name = String(socket.getPeerCertificate().subject.CN);
    names.push(name);
    response.writeHead(name === "old" ? 401 : 200, { "content-type": "application/json" }).end("{}");
  });
  servers.push(server);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  let kept = authority.issueClient({ commonName: "old" });
  await using transport = httpTransport({
    ...{ server: `https://127.0.0.1:${port}`, clock: systemClock, ca: authority.certificate },
    credential: async (refresh) => {
      if (refresh) kept = authority.issueClient({ commonName: "new" });
      return { cert: kept.certificate, key: kept.key };
    },
  });
  expect((await transport.send(version)).status).toBe(200);
  expect((await transport.send(version)).status).toBe(200);
  expect(names).toEqual(["old", "new", "new"]);
});

test("through a proxy the certificate is still that of the server", async () => {
  const port = await serve(["127.0.0.1"]);
  const targets: (string | undefined)[] = [];
  const proxy = createProxyServer();
  proxy.on("connect", (request, socket) => {
    targets.push(request.url);
    const target = connectTcp(port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      target.pipe(socket).pipe(target);
    });
    for (const each of [target, socket]) each.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => void proxy.listen(0, "127.0.0.1", resolve));
  const through = { proxy: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, clock: systemClock, caFile };
  await using transport = httpTransport({ ...through, server: `https://127.0.0.1:${port}` });
  expect((await transport.send(version)).status).toBe(200);
  await using other = httpTransport({ ...through, server: "https://api.example.com" });
  await expect(other.send(version)).rejects.toMatchObject({ code: "ERR_CONNECTION_FAILED" });
  expect([...new Set(targets)]).toEqual([`127.0.0.1:${port}`, "api.example.com:443"]);
  proxy.closeAllConnections();
  proxy.close();
});
