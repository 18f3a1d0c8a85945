import { createServer, type Server } from "node:https";
import type { IncomingHttpHeaders } from "node:http";
import type { TLSSocket } from "node:tls";
import type { AddressInfo } from "node:net";
import { ConfigMap, Namespace, Service } from "@setpoint/api";
import { APIService } from "@setpoint/api/apiregistration-v1";
import { isNotFound, type KubeObject } from "@setpoint/apimachinery";
import { createClient } from "@setpoint/client";
import { createCertificateAuthority } from "@setpoint/host/certificates";
import { systemHost } from "@setpoint/host/system";
import { expect, test, vi } from "vitest";
import { startControlPlane } from "./control-plane.ts";

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The name in the client's certificate. */
  readonly by: string | undefined;
}

const resources = [
  {
    name: "sweets",
    singularName: "sweet",
    namespaced: true,
    kind: "Sweet",
    verbs: ["delete", "deletecollection", "list"],
  },
];

/** An extension server that knows one kind and has no objects of it. */
async function startExtension(asked: Asked[]) {
  const authority = createCertificateAuthority(systemHost());
  const { certificate, key } = authority.issueServer({ commonName: "sweets", hosts: ["sweets.default.svc"] });
  const tls = { cert: certificate, key, requestCert: true, rejectUnauthorized: false };
  const server: Server = createServer(tls, (request, response) => {
    const path = request.url ?? "";
    const by = (request.socket as TLSSocket).getPeerCertificate().subject?.CN;
    asked.push({ method: request.method ?? "", path, headers: request.headers, by: [by].flat()[0] });
    const found = path.startsWith("/apis/sweets.example.com/v1");
    response.writeHead(found ? 200 : 404, { "content-type": "application/json" });
    const list = { kind: "SweetList", apiVersion: "sweets.example.com/v1", metadata: {}, items: null };
    const isDiscovery = path === "/apis/sweets.example.com/v1";
    response.end(JSON.stringify(isDiscovery ? { kind: "APIResourceList", resources } : list));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const { port } = server.address() as AddressInfo;
  return { port, ca: Buffer.from(authority.certificate).toString("base64"), [Symbol.asyncDispose]: stop };
}

function apiService(port: number, caBundle: string) {
  return APIService({
    name: "v1.sweets.example.com",
    spec: {
      group: "sweets.example.com",
      version: "v1",
      service: { namespace: "default", name: "sweets", port },
      caBundle,
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
  });
}

test(
  "requests for the group of an APIService go to its Service in the caller's name",
  { timeout: 60_000 },
  async () => {
    const asked: Asked[] = [];
    await using extension = await startExtension(asked);
    await using plane = await startControlPlane({ https: {} });
    const client = createClient(plane.transport, systemHost());
    const ports = [{ port: extension.port }];
    await client.create(
      Service,
      Service({
        name: "sweets",
        namespace: "default",
        spec: { type: "ExternalName", externalName: "127.0.0.1", ports },
      }),
    );
    await client.create(APIService, apiService(extension.port, extension.ca));
    const available = async (): Promise<void> => {
      const { status } = await client.get(APIService, { name: "v1.sweets.example.com" });
      expect(status?.conditions).toMatchObject([{ type: "Available", status: "True", reason: "Passed" }]);
    };
    await vi.waitFor(available, { timeout: 20_000 });

    const { resources: discovered } = await client.discover();
    expect(discovered.find(({ plural }) => plural === "sweets")).toMatchObject({
      group: "sweets.example.com",
      kind: "Sweet",
    });

    const path = "/apis/sweets.example.com/v1/namespaces/default/sweets";
    const user = { username: "ann", groups: ["system:masters", "cooks"], extra: { Shift: ["late"] } };
    const headers = { authorization: "Bearer secret", "x-remote-user": "eve" };
    const answer = await plane.transportAs(user).send({ method: "GET", path, query: { limit: "5" }, headers });
    expect(answer).toMatchObject({ kind: "object", status: 200, object: { kind: "SweetList" } });
    const sent = asked.find((each) => each.path === `${path}?limit=5`);
    expect(sent?.by).toBe("front-proxy-client");
    expect(sent?.headers).toMatchObject({
      "x-remote-user": "ann",
      "x-remote-group": "system:masters, cooks",
      "x-remote-extra-shift": "late",
    });
    expect(sent?.headers["authorization"]).toBeUndefined();

    const forbidden = await plane.transportAs({ username: "bob", groups: [] }).send({ method: "GET", path });
    expect(forbidden.status).toBe(403);

    await client.create(Namespace, Namespace({ name: "team" }));
    await client.delete(Namespace, { name: "team" });
    const gone = (): Promise<void> => expect(client.get(Namespace, { name: "team" })).rejects.toSatisfy(isNotFound);
    await vi.waitFor(gone, { timeout: 20_000 });
  },
);

test(
  "an APIService whose Service is not there is unavailable, and its requests get 503",
  { timeout: 60_000 },
  async () => {
    await using plane = await startControlPlane({ https: {}, controllers: false });
    const client = createClient(plane.transport, systemHost());
    await client.create(APIService, apiService(443, ""));
    const unavailable = async (): Promise<void> => {
      const { status } = await client.get(APIService, { name: "v1.sweets.example.com" });
      expect(status?.conditions).toMatchObject([{ status: "False", reason: "ServiceNotFound" }]);
    };
    await vi.waitFor(unavailable, { timeout: 20_000 });
    const path = "/apis/sweets.example.com/v1/namespaces/default/sweets";
    expect((await plane.transport.send({ method: "GET", path })).status).toBe(503);
  },
);

test("extension servers find in a ConfigMap whom to trust, and it is not the cluster's authority", async () => {
  await using plane = await startControlPlane({ https: {}, controllers: false });
  const client = createClient(plane.transport, systemHost());
  const key = { name: "extension-apiserver-authentication", namespace: "kube-system" };
  const { data = {} }: KubeObject & { data?: Record<string, string> } = await client.get(ConfigMap, key);
  expect(data["client-ca-file"]).toBe(plane.caPem);
  expect(data["requestheader-client-ca-file"]).toContain("BEGIN CERTIFICATE");
  expect(data["requestheader-client-ca-file"]).not.toBe(plane.caPem);
  expect(data["requestheader-allowed-names"]).toBe('["front-proxy-client"]');
});
