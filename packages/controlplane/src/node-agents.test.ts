import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import type { ApiResponse, HttpMethod } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import { type ControlPlane, startControlPlane } from "./control-plane.ts";
import { kubeletClientUser } from "./node-agents.ts";

async function send(plane: ControlPlane, method: HttpMethod, path: string, body?: unknown): Promise<ApiResponse> {
  const request = { method, path, ...(body === undefined ? {} : { body }) };
  return plane.transport.send(request, AbortSignal.timeout(10_000));
}

async function review(plane: ControlPlane, user: string, resourceAttributes: object): Promise<unknown> {
  const body = { spec: { user, groups: ["system:authenticated"], resourceAttributes } };
  const answer = await send(plane, "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", body);
  return answer.kind === "object" ? answer.object : undefined;
}

test("the API server calls node agents as a user that may use their API and nothing else", async () => {
  await using plane = await startControlPlane({ https: {}, controllers: false });
  const { serving } = plane.issueNode("node-1", ["127.0.0.1"]);
  const subjects: unknown[] = [];
  const tls = { cert: serving.certificate, key: serving.key, ca: plane.caPem, requestCert: true };
  const agent = createServer(tls, (request, response) => {
    subjects.push((request.socket as TLSSocket).getPeerCertificate().subject);
    response.end("a line\n");
  });
  await new Promise<void>((resolve) => agent.listen(0, "127.0.0.1", resolve));
  const { port } = agent.address() as AddressInfo;
  await send(plane, "POST", "/api/v1/nodes", { metadata: { name: "node-1" } });
  const status = {
    addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
  await plane.transport.send({
    method: "PATCH",
    path: "/api/v1/nodes/node-1/status",
    headers: { "content-type": "application/merge-patch+json" },
    body: { status },
  });
  await send(plane, "POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } });
  const spec = { nodeName: "node-1", containers: [{ name: "c", image: "i" }] };
  await send(plane, "POST", "/api/v1/namespaces/default/pods", { metadata: { name: "p" }, spec });
  const log = await send(plane, "GET", "/api/v1/namespaces/default/pods/p/log");
  expect(log.kind).toBe("bytes");
  if (log.kind === "bytes") for await (const _ of log.bytes);
  await new Promise((resolve) => agent.close(resolve));
  expect(subjects).toEqual([{ CN: kubeletClientUser }]);

  for (const subresource of ["proxy", "log", "stats", "metrics"]) {
    const asked = { verb: "get", resource: "nodes", subresource, name: "node-1" };
    expect(await review(plane, kubeletClientUser, asked)).toMatchObject({ status: { allowed: true } });
  }
  const secrets = { verb: "get", resource: "secrets", namespace: "default" };
  expect(await review(plane, kubeletClientUser, secrets)).toMatchObject({ status: { allowed: false } });
});

test("a node agent may ask who a caller is and what it may do", async () => {
  await using plane = await startControlPlane({ https: {}, controllers: false });
  const node = { username: "system:node:node-1", groups: ["system:nodes", "system:authenticated"] };
  const transport = plane.transportAs(node);
  const resourceAttributes = { verb: "create", resource: "nodes", subresource: "proxy", name: "node-1" };
  const access = await transport.send({
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    body: { spec: { user: "bob", resourceAttributes } },
  });
  expect(access).toMatchObject({ status: 201, object: { status: { allowed: false } } });
  const token = await transport.send({
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/tokenreviews",
    body: { spec: { token: "no-token" } },
  });
  expect(token).toMatchObject({ status: 201, object: { status: { error: "invalid bearer token" } } });
});

test("who writes a NetworkPolicy is warned where nothing enforces it", async () => {
  await using plane = await startControlPlane({ controllers: false });
  const spec = { podSelector: {}, policyTypes: ["Ingress"] };
  const path = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies";
  const { headers } = await send(plane, "POST", path, { metadata: { name: "deny" }, spec });
  expect(headers["warning"]).toBe(
    '299 - "NetworkPolicy is not enforced in this cluster: its pod network connects all pods"',
  );
});
