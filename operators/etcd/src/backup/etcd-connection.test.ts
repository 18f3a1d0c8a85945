import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { x509Issuer } from "@setpoint/data-service";
import { isTransferError } from "@setpoint/data-service/agent";
import { systemClock, systemRandom } from "@setpoint/host/system";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EtcdConnection, readCredentials } from "./etcd-connection.ts";

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

async function version(files: Readonly<Record<string, string>>): Promise<unknown> {
  rmSync(folder, { recursive: true });
  folder = mkdtempSync(join(tmpdir(), "setpoint-etcd-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const endpoint = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const connection = new EtcdConnection(endpoint, readCredentials(folder), new AbortController().signal);
  try {
    await connection.open();
    return (await connection.call("/v3/maintenance/status", {}))["version"];
  } catch (error) {
    return isTransferError(error) ? error.reason : error;
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
  expect(await version({ "ca.crt": stranger.certificate, "tls.crt": own.certificate, "tls.key": own.key })).toBe(
    "SourceUnreachable",
  );
  expect(await version({ ...trusted, "tls.crt": other.certificate, "tls.key": other.key })).toBe("SourceUnreachable");
  expect(await version(trusted)).toBe("SourceUnreachable");
  expect(await version({})).toBe("SourceUnreachable");
});
