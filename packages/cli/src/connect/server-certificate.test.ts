import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { createCertificateAuthority } from "@setpoint/host/certificates";
import { systemHost } from "@setpoint/host/system";
import { expect, onTestFinished, test } from "vitest";
import { certificateNames } from "./server-certificate.ts";

async function namesAt(server: Server): Promise<readonly string[] | undefined> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  return certificateNames(socket, "web.default.svc");
}

const { clock, random } = systemHost({ write: () => {} });
const authority = createCertificateAuthority({ clock, random });
const hosts = ["web.default.svc", "127.0.0.1"];
const { certificate: cert, key } = authority.issueServer({ commonName: "web", hosts });

test("the names of a server's certificate are read, also when the server asks for one of the client", async () => {
  expect(await namesAt(createTlsServer({ cert, key }))).toEqual(["web.default.svc", "127.0.0.1"]);
  const strict = createTlsServer({ cert, key, requestCert: true, rejectUnauthorized: true, ca: cert });
  strict.on("tlsClientError", () => {});
  expect(await namesAt(strict)).toEqual(["web.default.svc", "127.0.0.1"]);
});

test.each([
  ["that answers in another protocol", "HTTP/1.1 400 Bad Request\r\n\r\n"],
  ["that says nothing", undefined],
])("a server %s has none", async (_, greeting) => {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    if (greeting !== undefined) socket.end(greeting);
  });
  expect(await namesAt(server)).toBeUndefined();
});
