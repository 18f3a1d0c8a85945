import { createKind, type ApiRequest, type ApiResponse, type KubeObject, type Transport } from "@setpoint/apimachinery";
import { createMetrics } from "@setpoint/host/system";
import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import {
  bindPod,
  createClient,
  evictPod,
  podLogLines,
  readScale,
  requestToken,
  RestMapping,
  type Client,
} from "@setpoint/client";

const Box = createKind<KubeObject>({
  group: "example.com",
  version: "v1",
  kind: "Box",
  plural: "boxes",
  namespaced: true,
});
const key = { name: "a", namespace: "default" };

function answering(answer: (request: ApiRequest) => ApiResponse): { readonly client: Client; readonly sent: string[] } {
  const sent: string[] = [];
  const transport: Transport = {
    async send(request) {
      const { method, path, query = {}, headers = {}, body } = request;
      const type = headers["content-type"] ?? "";
      sent.push(
        [method, path, new URLSearchParams(query as Record<string, string>).toString(), type, JSON.stringify(body)]
          .filter(Boolean)
          .join(" "),
      );
      return answer(request);
    },
  };
  return { client: createClient(transport, simulatedHost(1)), sent };
}

const object = (value: unknown, status = 200): ApiResponse => ({ kind: "object", status, headers: {}, object: value });

test("evictions, bindings, tokens and scales are asked for at their paths", async () => {
  const status = { token: "t", expirationTimestamp: "2026-01-01T00:00:00Z", replicas: 2, selector: "app=a" };
  const { client, sent } = answering(() => object({ metadata: { uid: "u" }, spec: { replicas: 3 }, status }));
  await evictPod(client, key, { preconditions: { uid: "u" }, dryRun: true });
  await bindPod(client, key, "node-1");
  expect(await requestToken(client, key, { audiences: ["vault"], expirationSeconds: 600 })).toMatchObject({
    token: "t",
  });
  expect(await readScale(client, Box, key)).toEqual({ uid: "u", replicas: 3, currentReplicas: 2, selector: "app=a" });
  expect(sent).toEqual([
    'POST /api/v1/namespaces/default/pods/a/eviction dryRun=All {"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"a","namespace":"default"},"deleteOptions":{"preconditions":{"uid":"u"}}}',
    'POST /api/v1/namespaces/default/pods/a/binding {"apiVersion":"v1","kind":"Binding","metadata":{"name":"a","namespace":"default"},"target":{"apiVersion":"v1","kind":"Node","name":"node-1"}}',
    'POST /api/v1/namespaces/default/serviceaccounts/a/token {"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","metadata":{},"spec":{"audiences":["vault"],"expirationSeconds":600}}',
    "GET /apis/example.com/v1/namespaces/default/boxes/a/scale",
  ]);
});

test("every kind of patch has its content type, and writes say how they are to be checked", async () => {
  const { client, sent } = answering(() => object(Box(key)));
  await client.patch(Box, key, { a: 1 });
  await client.patch(Box, key, [{ op: "remove", path: "/a" }], { type: "json" });
  await client.patch(Box, key, { a: 1 }, { type: "strategic", subresource: "status" });
  await client.apply(Box, Box(key), { fieldManager: "me", force: true, fieldValidation: "Strict", dryRun: true });
  await client.deleteCollection(Box, { namespace: "default", labelSelector: "a=b", dryRun: true });
  const types = sent.map((line) => line.replace(/ [[{].*/, ""));
  expect(types).toEqual([
    "PATCH /apis/example.com/v1/namespaces/default/boxes/a application/merge-patch+json",
    "PATCH /apis/example.com/v1/namespaces/default/boxes/a application/json-patch+json",
    "PATCH /apis/example.com/v1/namespaces/default/boxes/a/status application/strategic-merge-patch+json",
    "PATCH /apis/example.com/v1/namespaces/default/boxes/a fieldManager=me&fieldValidation=Strict&dryRun=All&force=true application/apply-patch+yaml",
    "DELETE /apis/example.com/v1/namespaces/default/boxes labelSelector=a%3Db&dryRun=All",
  ]);
});

test("a log that is followed comes line by line, whatever the chunks are", async () => {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (const text of ["one\ntw", "o\n", "ü".slice(0, 1), "\nend"]) yield new TextEncoder().encode(text);
  }
  const { client, sent } = answering(() => ({ kind: "bytes", status: 200, headers: {}, bytes: chunks() }));
  const lines: string[] = [];
  for await (const line of podLogLines(client, key, { container: "main", follow: true, tailLines: 10 }))
    lines.push(line);
  expect(lines).toEqual(["one", "two", "ü", "end"]);
  expect(sent).toEqual(["GET /api/v1/namespaces/default/pods/a/log container=main&follow=true&tailLines=10"]);
});

test("a kind that was installed after discovery is found; one that is nowhere is asked for once in a while", async () => {
  const host = simulatedHost(1);
  let isInstalled = false;
  let discoveries = 0;
  const resource = { resource: "boxes", responseKind: { kind: "Box" }, scope: "Namespaced", verbs: ["get"] };
  const transport: Transport = {
    async send({ path }) {
      if (path === "/apis") discoveries++;
      const items =
        path === "/apis" && isInstalled
          ? [{ metadata: { name: "example.com" }, versions: [{ version: "v1", resources: [resource] }] }]
          : [];
      return object({ kind: "APIGroupDiscoveryList", items });
    },
  };
  const mapping = new RestMapping(createClient(transport, host), { clock: host.clock, rediscoverMsMin: 1_000 });
  expect(await mapping.ofKind(Box)).toBeUndefined();
  expect(await mapping.ofKind(Box)).toBeUndefined();
  expect(discoveries).toBe(1);
  await expect(mapping.find("boxes")).rejects.toMatchObject({ code: "ERR_UNKNOWN_RESOURCE" });
  isInstalled = true;
  await host.clock.run(1_000);
  expect((await mapping.ofObject(Box(key))).plural).toBe("boxes");
  expect((await mapping.find("box.example.com")).kind).toBe("Box");
  expect(discoveries).toBe(2);
});

test("requests are counted and timed under client-go's names, retries apart", async () => {
  const host = simulatedHost(1);
  const metrics = createMetrics();
  let asked = 0;
  const busy = object({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code: 429 }, 429);
  const transport: Transport = { send: async () => (asked++ === 0 ? busy : object(Box(key))) };
  const got = createClient(transport, { ...host, metrics }).get(Box, key);
  await host.clock.run(10_000);
  await got;
  const text = metrics.expose();
  expect(text).toContain('rest_client_requests_total{code="429",method="GET"} 1');
  expect(text).toContain('rest_client_requests_total{code="200",method="GET"} 1');
  expect(text).toContain('rest_client_request_retries_total{code="429",verb="GET"} 1');
  expect(text).toContain('rest_client_request_duration_seconds_count{verb="GET"} 2');
});
