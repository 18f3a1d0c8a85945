import { createServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { createCertificateAuthority } from "@setpoint/host/certificates";
import { systemClock, systemRandom } from "@setpoint/host/system";
import { expect, onTestFinished, test } from "vitest";
import { createExtensionProxy } from "./extension-proxy.ts";

const authority = createCertificateAuthority({ clock: systemClock, random: systemRandom });
const client = authority.issueClient({ commonName: "front-proxy-client", organizations: [] });
const service = { namespace: "shop", name: "wardle", port: 443 };

test("an extension server in a pod is reached by the network of pods", async () => {
  const pair = authority.issueServer({ commonName: "wardle", hosts: ["wardle.shop.svc"] });
  const server = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ path: request.url, user: request.headers["x-remote-user"] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void (server.closeAllConnections(), server.close()));
  const { port } = server.address() as AddressInfo;
  const dialled: string[] = [];
  const forward = createExtensionProxy({
    // An address that no host has.
    resolveService: () => ({ address: "192.0.2.1", port: 443 }),
    connectToPod: async (address, at) => (dialled.push(`${address}:${at}`), connect(port, "127.0.0.1")),
    cert: client.certificate,
    key: client.key,
  });
  const caBundle = Buffer.from(authority.certificate).toString("base64");
  const extension = { name: "v1.wardle", group: "wardle", version: "v1", service, caBundle, insecure: false };
  const request = { method: "GET", path: "/apis/wardle/v1/flunders" } as const;
  const answer = await forward(extension, request, { username: "ada", groups: [] }, AbortSignal.timeout(5_000));
  expect(answer).toMatchObject({ status: 200, object: { path: request.path, user: "ada" } });
  expect(dialled).toEqual(["192.0.2.1:443"]);
});
