import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { type ApiRequest, type ApiResponse, isApiError, type UnstructuredObject } from "@setpoint/apimachinery";
import { expect, onTestFinished, test } from "vitest";
import type { ObjectReader } from "../registry/object-reader.ts";
import { parseRequestInfo } from "../request/request-info.ts";
import { objectProxyEndpoints } from "./object-proxy.ts";

const base = "/api/v1/namespaces/shop";

async function program(): Promise<number> {
  const server = createServer((request, response) => {
    const { url = "", method = "" } = request;
    if (url === "/moved") return response.writeHead(302, { location: "/there" }).end();
    if (url === "/page") return response.writeHead(200, { "content-type": "text/html" }).end(`<a href="/x">x</a>`);
    void textOf(request).then((body) => response.end(`${method} ${url} ${request.headers.authorization} ${body}`));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function textOf(chunks: AsyncIterable<Uint8Array> | IncomingMessage): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk as Uint8Array);
  return Buffer.concat(parts).toString();
}

function clusterWith(port: number): (request: Partial<ApiRequest> & { path: string }) => Promise<ApiResponse> {
  const object = (rest: object): UnstructuredObject =>
    ({ apiVersion: "v1", kind: "Any", ...rest }) as UnstructuredObject;
  const objects: Readonly<Record<string, UnstructuredObject>> = {
    "pods/web": object({
      metadata: { name: "web", namespace: "shop" },
      spec: { containers: [{ ports: [{ containerPort: port }] }] },
      status: { podIP: "127.0.0.1" },
    }),
    "services/web": object({
      metadata: { name: "web", namespace: "shop" },
      spec: { ports: [{ name: "http", port: 80 }] },
    }),
    "services/idle": object({ metadata: { name: "idle", namespace: "shop" }, spec: { ports: [{ port: 80 }] } }),
  };
  const slice = object({
    metadata: { name: "web-1", namespace: "shop", labels: { "kubernetes.io/service-name": "web" } },
    ports: [{ name: "http", port }],
    endpoints: [{ addresses: ["127.0.0.1"] }],
  });
  const reader = {
    get: (_group: string, resource: string, _namespace: string, name: string) => objects[`${resource}/${name}`],
    list: () => [slice],
  } as unknown as ObjectReader;
  const table = objectProxyEndpoints({ reader, tls: { ca: "", cert: "", key: "" } });
  return (given) => {
    const request: ApiRequest = { method: "GET", ...given };
    const user = { username: "ann", groups: [] };
    const attributes = { ...parseRequestInfo(request.method, request.path, request.query), user };
    const endpoint = table.get(`${request.method} v1/${attributes.resource}/proxy`);
    if (endpoint === undefined) throw new Error(`no endpoint for ${request.path}`);
    return endpoint({ request, attributes, body: undefined, signal: new AbortController().signal });
  };
}

const bodyOf = async (response: ApiResponse): Promise<string> =>
  response.kind === "bytes" ? textOf(response.bytes) : "no bytes";

test("a pod and a Service get method, path, query and body, and not the client's credentials", async () => {
  const send = clusterWith(await program());
  const headers = { authorization: "Bearer secret", "content-type": "text/plain" };
  const posted = await send({
    path: `${base}/pods/web/proxy/a/b`,
    method: "POST",
    headers,
    body: Buffer.from("hello"),
  });
  expect(await bodyOf(posted)).toBe("POST /a/b undefined hello");
  const query = { x: ["1", "2"] };
  for (const name of ["web:http", "web:80", "http:web:http"])
    expect(await bodyOf(await send({ path: `${base}/services/${name}/proxy/`, query }))).toBe(
      "GET /?x=1&x=2 undefined ",
    );
});

test("a path that ends with the proxy is sent on to the root below it", async () => {
  const send = clusterWith(await program());
  expect(await send({ path: `${base}/pods/web/proxy`, query: { q: "1" } })).toMatchObject({
    status: 301,
    headers: { location: `${base}/pods/web/proxy/?q=1` },
  });
  expect(await bodyOf(await send({ path: `${base}/pods/web/proxy`, method: "PUT" }))).toBe("PUT / undefined ");
});

test("redirects and links of pages lead through the proxy", async () => {
  const send = clusterWith(await program());
  const moved = await send({ path: `${base}/pods/web/proxy/moved` });
  expect(moved).toMatchObject({ status: 302, headers: { location: `${base}/pods/web/proxy/there` } });
  const page = await send({ path: `${base}/services/web:http/proxy/page` });
  expect(await bodyOf(page)).toBe(`<a href="${base}/services/web:http/proxy/x">x</a>`);
});

test.for([
  ["pods/none/proxy/", 404, 'pods "none" not found'],
  ["services/idle/proxy/", 503, 'no endpoints available for service "idle"'],
  ["services/web:81/proxy/", 503, 'no service port 81 found for service "web"'],
  ["pods/ftp:web:1/proxy/", 400, 'invalid pod request "ftp:web:1"'],
  ["pods/web:1/proxy/", 503, "error trying to reach service: connect ECONNREFUSED"],
] as const)("%s is a %i: %s", async ([path, code, message]) => {
  const send = clusterWith(await program());
  const error: unknown = await send({ path: `${base}/${path}` }).catch((cause: unknown) => cause);
  expect(isApiError(error) ? error.status : error).toMatchObject({ code });
  expect(String((error as Error).message)).toContain(message);
});
