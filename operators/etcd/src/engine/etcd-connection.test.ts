import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createPlainServer } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { x509Issuer } from "@setpoint/data-service";
import { isTransferError } from "@setpoint/data-service/agent";
import { systemClock, systemRandom } from "@setpoint/host/system";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EtcdConnection, readCredentials } from "./etcd-connection.ts";
import { startMember } from "./snapshot.fixture.ts";

const ports = { clock: systemClock, random: systemRandom };
const lifetimeMs = 3_600_000;
const authority = x509Issuer.createAuthority({ commonName: "etcd", lifetimeMs }, ports);
const stranger = x509Issuer.createAuthority({ commonName: "stranger", lifetimeMs }, ports);
const leaf = (by: typeof authority): ReturnType<typeof x509Issuer.issue> =>
  x509Issuer.issue(by, { commonName: "member", hosts: ["127.0.0.1"], lifetimeMs }, ports);

/** A member that wants client certificates of its own authority. */
const member = leaf(authority);
const server = createServer(
  { cert: member.certificate, key: member.key, ca: authority.certificate, requestCert: true, rejectUnauthorized: true },
  (_request, response) => void response.end('{"version":"3.5.16"}'),
);
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-etcd-"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
  server.closeAllConnections();
  server.close();
});

function tlsEndpoint(): string {
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function version(files: Readonly<Record<string, string>>, endpoint = tlsEndpoint()): Promise<unknown> {
  rmSync(folder, { recursive: true });
  folder = mkdtempSync(join(tmpdir(), "setpoint-etcd-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const connection = new EtcdConnection(endpoint, readCredentials(folder), new AbortController().signal);
  try {
    await connection.open();
    return (await connection.call("/v3/maintenance/status", {}))["version"];
  } catch (error) {
    return isTransferError(error) ? `${error.reason}: ${error.message}` : error;
  }
}

test("a member with TLS is reached with the certificates of the Secret", async () => {
  const own = leaf(authority);
  const files = { "ca.crt": authority.certificate, "tls.crt": own.certificate, "tls.key": own.key };
  expect(await version(files)).toBe("3.5.16");
});

test("a member that another authority vouches for is refused, and so is a client of one", async () => {
  const own = leaf(authority);
  const other = leaf(stranger);
  const trusted = { "ca.crt": authority.certificate };
  const vouched = /^SourceUnreachable: .*its certificate is not signed by an authority in ca\.crt/;
  // Node's server sends no alert; that of etcd is in an end-to-end test.
  const asks = /^SourceUnreachable: .*(ECONNRESET|it asks for a client certificate)/;
  const certificates = { "tls.crt": own.certificate, "tls.key": own.key };
  expect(await version({ "ca.crt": stranger.certificate, ...certificates })).toMatch(vouched);
  expect(await version({})).toMatch(vouched);
  expect(await version({ ...trusted, "tls.crt": other.certificate, "tls.key": other.key })).toMatch(asks);
  expect(await version(trusted)).toMatch(asks);
});

test("a URL with the wrong scheme is named as such", async () => {
  await using plain = await startMember({});
  expect(await version({}, plain.endpoint.replace("http:", "https:"))).toMatch(/its URL begins with http \(/);
  expect(await version({}, tlsEndpoint().replace("https:", "http:"))).toMatch(/^SourceUnreachable: /);
});

test.each([
  [{ status: 400, text: "Client sent an HTTP request to an HTTPS server.\n" }, /its URL begins with https\.$/],
  [{ status: 404, text: "404 page not found\n" }, /older than 3\.4, or runs with --enable-grpc-gateway=false/],
  [{ status: 502, text: "<html>" }, /it answered 502 without JSON/],
])("the answer %j is not etcd's", async ({ status, text }, why) => {
  const other = createPlainServer((_request, response) => void response.writeHead(status).end(text));
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  expect(await version({}, `http://127.0.0.1:${(other.address() as AddressInfo).port}`)).toMatch(why);
  other.closeAllConnections();
  other.close();
});

test("a token that has ended is replaced once, and the call is made again", async () => {
  const asked: string[] = [];
  const member = createPlainServer((request, response) => {
    const { url = "", headers } = request;
    asked.push(`${url} ${headers.authorization ?? "-"}`);
    const logins = asked.filter((each) => each.startsWith("/v3/auth")).length;
    if (url === "/v3/auth/authenticate") return response.end(JSON.stringify({ token: `token-${logins}` }));
    if (headers.authorization === "token-2") return response.end("{}");
    response.statusCode = 401;
    return response.end(JSON.stringify({ message: "etcdserver: invalid auth token" }));
  });
  await new Promise<void>((resolve) => member.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(member.address() as AddressInfo).port}`;
  const login = { name: "root", password: "secret" };
  const connection = new EtcdConnection(endpoint, { tls: {}, login }, new AbortController().signal);
  await connection.open();
  await connection.call("/v3/kv/put", {});
  member.closeAllConnections();
  member.close();
  expect(asked).toEqual([
    "/v3/auth/authenticate -",
    "/v3/kv/put token-1",
    "/v3/auth/authenticate -",
    "/v3/kv/put token-2",
  ]);
});
