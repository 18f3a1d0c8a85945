import { once } from "node:events";
import { connect, createServer, type TLSSocket } from "node:tls";
import type { AddressInfo } from "node:net";
import { systemClock, systemRandom } from "@setpoint/host/system";
import { expect, test } from "vitest";
import type { KeyPair } from "./certificate-issuer.ts";
import { x509Issuer } from "./x509-issuer.ts";

const ports = { clock: systemClock, random: systemRandom };
const hour = 3_600_000;

function authority(): KeyPair {
  return x509Issuer.createAuthority({ commonName: `ca-${systemRandom.uuid()}`, lifetimeMs: 100 * hour }, ports);
}

function leaf(signer: KeyPair, hosts: readonly string[] = []): KeyPair {
  return x509Issuer.issue(signer, { commonName: "member", hosts, lifetimeMs: hour }, ports);
}

/** What a server that demands certificates of `trusted` answers to a client that trusts the same. */
async function greet(server: KeyPair, client: KeyPair, trusted: KeyPair, servername: string): Promise<string> {
  const options = { cert: server.certificate, key: server.key, ca: trusted.certificate, requestCert: true };
  const listener = createServer(options, (socket) => socket.end("hello"));
  listener.on("tlsClientError", () => {});
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  const socket: TLSSocket = connect({
    ...{ host: "127.0.0.1", port, servername },
    ...{ ca: trusted.certificate, cert: client.certificate, key: client.key },
  });
  let greeting = "";
  socket.on("data", (data: Buffer) => (greeting += data.toString()));
  try {
    await once(socket, "close");
    return greeting;
  } finally {
    socket.destroy();
    listener.close();
  }
}

test("server and client of one authority greet each other by a wildcard name", async () => {
  const ca = authority();
  const server = leaf(ca, ["*.orders.default.svc", "127.0.0.1"]);
  expect(await greet(server, leaf(ca), ca, "orders-1.orders.default.svc")).toBe("hello");
});

test("a wrong name and a client of another authority are refused", async () => {
  const ca = authority();
  const server = leaf(ca, ["*.orders.default.svc"]);
  await expect(greet(server, leaf(ca), ca, "other.default.svc")).rejects.toThrow("altnames");
  const stranger = leaf(authority());
  expect(await greet(server, stranger, ca, "a.orders.default.svc").catch(() => "refused")).not.toBe("hello");
});

test("a certificate says its hosts and times, and which authority signed it", () => {
  const ca = authority();
  const { certificate } = leaf(ca, ["a.svc", "10.0.0.1"]);
  const { hosts, notBeforeMs, notAfterMs } = x509Issuer.describe(certificate);
  expect(hosts).toEqual(["a.svc", "10.0.0.1"]);
  expect(notAfterMs - notBeforeMs).toBe(3 * hour);
  expect(x509Issuer.isIssuedBy(certificate, ca.certificate)).toBe(true);
  expect(x509Issuer.isIssuedBy(certificate, authority().certificate)).toBe(false);
});
