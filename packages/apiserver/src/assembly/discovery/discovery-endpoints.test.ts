import { type ApiResponse, encodeJson, type UnstructuredObject } from "@setpoint/apimachinery";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { builtinResources } from "../../registry/builtin/builtin-resources.ts";
import { parseCrd } from "../../registry/crd/crd-object.ts";
import { crdStrategy } from "../../registry/crd/crd-strategy.ts";
import { customDefinitions } from "../../registry/crd/custom-definition.ts";
import recorded from "../../registry/crd/fixtures/widgets.json" with { type: "json" };
import { Registry } from "../../registry/registry.ts";
import { aggregatedContentType } from "./aggregated.ts";
import { createDiscoveryEndpoints } from "./discovery-endpoints.ts";
import type { HealthCheck } from "./health.ts";
import apps from "./fixtures/openapi-apps-v1.json" with { type: "json" };

function setUp(healthChecks: readonly HealthCheck[] = []) {
  const registry = new Registry(builtinResources());
  const manifest = structuredClone(recorded.manifest) as unknown as UnstructuredObject;
  crdStrategy.setDefaults?.(manifest);
  const serve = (): void =>
    registry.setCustom("widgets.example.com", customDefinitions(parseCrd(manifest), { isTerminating: () => false }));
  const table = createDiscoveryEndpoints({ registry, clock: new VirtualClock(seededRandom(1)), healthChecks });
  const get = async (url: string, headers: Record<string, string> = {}): Promise<ApiResponse> => {
    const [path = "", search = ""] = url.split("?");
    const endpoint = table.get(`GET ${path}`);
    if (endpoint === undefined) throw new Error(`nothing is served at ${path}`);
    const query = Object.fromEntries(new URLSearchParams(search));
    const request = { method: "GET" as const, path, query, headers };
    return endpoint({ request, attributes: {} as never, body: undefined, signal: new AbortController().signal });
  };
  const json = async (url: string, headers?: Record<string, string>): Promise<Record<string, unknown>> => {
    const response = await get(url, headers);
    return response.kind === "object" ? (response.object as Record<string, unknown>) : {};
  };
  return { registry, serve, table, get, json };
}

async function textOf(response: ApiResponse): Promise<string> {
  if (response.kind !== "bytes") return "";
  let text = "";
  for await (const chunk of response.bytes) text += new TextDecoder().decode(chunk);
  return text;
}

const masked = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => key !== "storageVersionHash");
  return Object.fromEntries(entries.map(([key, each]) => [key, masked(each)]));
};

test("the discovery of a CRD is that of kube-apiserver", async () => {
  const { serve, json } = setUp();
  serve();
  expect(await json("/apis/example.com")).toEqual(recorded.discovery.group);
  expect(masked(await json("/apis/example.com/v1"))).toEqual(masked(recorded.discovery.v1));
  expect(masked(await json("/apis/example.com/v1alpha1"))).toEqual(masked(recorded.discovery.v1alpha1));
});

test("aggregated discovery lists built-in groups in the order of kube-apiserver, then those of CRDs", async () => {
  const { serve, get } = setUp();
  serve();
  const response = await get("/apis", { accept: `${aggregatedContentType},application/json` });
  expect(response.headers["content-type"]).toBe(aggregatedContentType);
  expect(response.headers["vary"]).toBe("Accept");
  const { items } = (response.kind === "object" ? response.object : {}) as { items: { metadata: { name: string } }[] };
  expect(items.map((each) => each.metadata.name)).toEqual(recorded.discovery.groupOrder);
  expect(items.at(-1)).toEqual(recorded.discovery.aggregated);
  const again = await get("/apis", { accept: aggregatedContentType, "if-none-match": response.headers["etag"] ?? "" });
  expect(again.status).toBe(304);
});

test("a client that asks for v2beta1 only gets the first form or a 406", async () => {
  const { json, get } = setUp();
  const beta = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
  expect((await json("/apis", { accept: `${beta},application/json` }))["kind"]).toBe("APIGroupList");
  await expect(get("/apis", { accept: beta })).rejects.toThrow("only the following media types are accepted");
});

test("a group appears with its CRD and goes with it", () => {
  const { registry, serve, table } = setUp();
  expect(table.get("GET /apis/example.com/v1")).toBeUndefined();
  serve();
  expect(table.get("GET /apis/example.com/v1")).toBeDefined();
  registry.setCustom("widgets.example.com", []);
  expect(table.get("GET /apis/example.com/v1")).toBeUndefined();
});

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string }[];
  readonly "x-kubernetes-action": string;
  readonly "x-kubernetes-group-version-kind": unknown;
  readonly requestBody?: { readonly content: object };
  readonly responses: object;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

async function documentAt(json: (url: string) => Promise<unknown>, key: string): Promise<Document> {
  return (await json(`/openapi/v3/${key}`)) as Document;
}

test("the OpenAPI document of a CRD has the paths and operations of kube-apiserver's", async () => {
  const { serve, json } = setUp();
  serve();
  const { paths } = await documentAt(json, "apis/example.com/v1");
  expect(Object.keys(paths).toSorted()).toEqual(Object.keys(recorded.openapi.paths));
  for (const [path, item] of Object.entries(recorded.openapi.paths))
    for (const [method, wanted] of Object.entries(item)) {
      if (method === "parameters") continue;
      const operation = paths[path]?.[method];
      const { action, gvk, operationId, requestTypes, responses } = wanted as typeof item.get;
      expect([path, method, operation?.operationId]).toEqual([path, method, operationId]);
      expect(operation?.["x-kubernetes-action"]).toBe(action);
      expect(operation?.["x-kubernetes-group-version-kind"]).toEqual(gvk);
      expect(Object.keys(operation?.responses ?? {})).toEqual(responses);
      expect(Object.keys(operation?.requestBody?.content ?? {}).toSorted()).toEqual(requestTypes);
    }
  const patch = paths["/apis/example.com/v1/namespaces/{namespace}/widgets/{name}"]?.["patch"];
  expect(patch?.parameters.map((each) => each.name)).toEqual(["dryRun", "fieldManager", "fieldValidation", "force"]);
});

test("the OpenAPI document of a CRD has a default beyond 2^53 exactly", async () => {
  const { registry, json } = setUp();
  const properties = { big: { type: "integer", default: 9007199254740993n } };
  const versions = recorded.manifest.spec.versions.map((version) => ({
    ...version,
    schema: { openAPIV3Schema: { type: "object", properties } },
  }));
  const manifest = { ...recorded.manifest, spec: { ...recorded.manifest.spec, versions } } as unknown;
  const crd = parseCrd(structuredClone(manifest) as UnstructuredObject);
  registry.setCustom("widgets.example.com", customDefinitions(crd, { isTerminating: () => false }));
  expect(encodeJson(await documentAt(json, "apis/example.com/v1"))).toContain('"default":9007199254740993');
});

/** Descriptions of implicit fields are our own words. */
function withoutImplicitDescriptions(schemas: Readonly<Record<string, unknown>>): unknown {
  const text = JSON.stringify(schemas, (key, value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    if (!["apiVersion", "kind", "metadata", "items"].includes(key)) return value;
    return { ...value, description: undefined };
  });
  return JSON.parse(text);
}

test("the OpenAPI schemas of a CRD are those of kube-apiserver", async () => {
  const { serve, json } = setUp();
  serve();
  const { components } = await documentAt(json, "apis/example.com/v1");
  const own = Object.fromEntries(Object.entries(components.schemas).filter(([name]) => name.startsWith("com.")));
  expect(withoutImplicitDescriptions(own)).toEqual(withoutImplicitDescriptions(recorded.openapi.schemas));
  const alpha = await documentAt(json, "apis/example.com/v1alpha1");
  expect(withoutImplicitDescriptions(alpha.components.schemas)).toMatchObject(
    withoutImplicitDescriptions(recorded.openapi.v1alpha1Schemas) as object,
  );
});

test("the OpenAPI document of apps/v1 has the operations and schemas of kube-apiserver's", async () => {
  const { json } = setUp();
  const { paths, components } = await documentAt(json, "apis/apps/v1");
  for (const [path, operations] of Object.entries(apps.paths)) {
    if (path === "/apis/apps/v1/") continue;
    for (const [method, [id, action]] of Object.entries(operations)) {
      const operation = paths[path]?.[method];
      expect([path, method, operation?.operationId, operation?.["x-kubernetes-action"]]).toEqual([
        path,
        method,
        id,
        action,
      ]);
    }
  }
  const unused = ["APIResource", "APIResourceList", "WatchEvent"].map(
    (each) => `io.k8s.apimachinery.pkg.apis.meta.v1.${each}`,
  );
  expect(Object.keys(components.schemas)).toEqual(apps.schemas.filter((each) => !unused.includes(each)));
});

test("an outdated hash of a document leads to the present one, which may be kept for ever", async () => {
  const { serve, get, json } = setUp();
  serve();
  const index = (await json("/openapi/v3")) as { paths: Record<string, { serverRelativeURL: string }> };
  const url = index.paths["apis/example.com/v1"]?.serverRelativeURL ?? "";
  const stale = await get("/openapi/v3/apis/example.com/v1?hash=OLD");
  expect([stale.status, stale.headers["location"]]).toEqual([301, url]);
  const present = await get(url);
  expect(present.headers).toMatchObject({
    "cache-control": "public, immutable",
    expires: "Fri, 01 Jan 2027 00:00:00 GMT",
  });
  expect((await get(url, { accept: "application/xml" })).status).toBe(406);
});

test("health checks answer alone, together and without the excluded ones", async () => {
  const checks: HealthCheck[] = [
    { name: "ping", check: () => {} },
    { name: "storage", check: () => Promise.reject(new Error("disk full")), endpoints: ["readyz"] },
  ];
  const { get, table } = setUp(checks);
  expect(await textOf(await get("/healthz"))).toBe("ok");
  const failed = await get("/readyz");
  expect([failed.status, await textOf(failed)]).toEqual([
    500,
    "[+]ping ok\n[-]storage failed: reason withheld\nreadyz check failed\n",
  ]);
  const excluded = await get("/readyz?verbose&exclude=storage");
  expect(await textOf(excluded)).toBe("[+]ping ok\n[+]storage excluded: ok\nreadyz check passed\n");
  expect(await textOf(await get("/readyz/ping"))).toBe("ok");
  expect((await get("/readyz/storage")).status).toBe(500);
  expect(table.get("GET /livez/storage")).toBeUndefined();
});
