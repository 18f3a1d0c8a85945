/**
 * From a seeded source to one request: mostly a valid one with something wrong about its path, headers or
 * body.
 */
import { readFileSync } from "node:fs";
import type { Random } from "@setpoint/host";
import { stringify } from "yaml";
import { anyValue, damaged, mutated, pick } from "./values.ts";

/** The namespace in which the fuzzer writes; it is deleted at the end. */
export const fuzzNamespace = "fuzz";

export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

interface Sample {
  readonly path: string;
  readonly object: Readonly<Record<string, unknown>>;
}

const template = {
  metadata: { labels: { app: "f" } },
  spec: { containers: [{ name: "c", image: "i", ports: [{ containerPort: 80, name: "http" }], env: [] }] },
};
const selector = { matchLabels: { app: "f" } };

const samples: readonly Sample[] = [
  sample("/api/v1", "configmaps", "v1", "ConfigMap", { data: { a: "b" }, binaryData: { b: "AAAA" } }),
  sample("/api/v1", "secrets", "v1", "Secret", { stringData: { a: "b" }, type: "Opaque" }),
  sample("/api/v1", "services", "v1", "Service", { spec: { ports: [{ port: 80 }], selector: { app: "f" } } }),
  sample("/api/v1", "pods", "v1", "Pod", { spec: { ...template.spec, schedulerName: "none" } }),
  sample("/api/v1", "resourcequotas", "v1", "ResourceQuota", { spec: { hard: { pods: "1000" } } }),
  sample("/apis/apps/v1", "deployments", "apps/v1", "Deployment", { spec: { replicas: 0, selector, template } }),
  sample("/apis/batch/v1", "cronjobs", "batch/v1", "CronJob", {
    spec: { suspend: true, schedule: "* * * * *", jobTemplate: { spec: { template } } },
  }),
  sample("/apis/coordination.k8s.io/v1", "leases", "coordination.k8s.io/v1", "Lease", {
    spec: { holderIdentity: "me", leaseDurationSeconds: 10, renewTime: "2026-01-01T00:00:00.000000Z" },
  }),
  sample("/apis/rbac.authorization.k8s.io/v1", "roles", "rbac.authorization.k8s.io/v1", "Role", {
    rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
  }),
  sample("/apis/networking.k8s.io/v1", "networkpolicies", "networking.k8s.io/v1", "NetworkPolicy", {
    spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.0/8" } }] }] },
  }),
];

function sample(prefix: string, plural: string, apiVersion: string, kind: string, fields: object): Sample {
  return {
    path: `${prefix}/namespaces/${fuzzNamespace}/${plural}`,
    object: { apiVersion, kind, metadata: {}, ...fields },
  };
}

const otherPaths: readonly string[] = [
  "/",
  "//",
  "/%zz",
  "/%",
  "/api",
  "/apis",
  "/apis/",
  "/api/v1/",
  "/api/v1//pods",
  "/api/v1/namespaces/../../secrets",
  "/api/v1/nodes",
  "/api/v1/nodes/x/proxy/%zz",
  "/api/v1/namespaces/fuzz/pods/x/log?tailLines=-1",
  "/api/v1/namespaces/fuzz/pods/x/exec?command=a",
  "/api/v1/namespaces/fuzz/services/http:x:80/proxy/a/b?c",
  "/openapi/v2",
  "/openapi/v3",
  "/version",
  "/healthz",
  "/readyz?verbose",
  "/metrics",
  "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
  "/apis/authentication.k8s.io/v1/tokenreviews",
  "/apis/certificates.k8s.io/v1/certificatesigningrequests",
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
];

const queries: readonly string[] = [
  "",
  "",
  "",
  "?limit=1",
  "?limit=-1",
  "?limit=99999999999999999999",
  "?limit=2&continue=e30",
  "?continue=%ff",
  "?resourceVersion=1",
  "?resourceVersion=99999999999",
  "?resourceVersion=x",
  "?resourceVersionMatch=Exact",
  "?labelSelector=a%20in%20(b,c),!d",
  "?labelSelector=((((",
  `?labelSelector=${"a,".repeat(2_000)}a`,
  "?fieldSelector=metadata.name%3Dx",
  "?fieldSelector=a%3D%3D%3D",
  "?dryRun=All",
  "?dryRun=x",
  "?fieldManager=f&force=true",
  `?fieldManager=${"f".repeat(200)}`,
  "?fieldValidation=Strict",
  "?fieldValidation=x",
  "?pretty=true",
  "?timeout=1s",
  "?timeout=-5",
  "?watch=true&timeoutSeconds=1",
  "?watch=1&resourceVersion=5&timeoutSeconds=1&allowWatchBookmarks=true",
  "?sendInitialEvents=true&watch=true&timeoutSeconds=1&resourceVersionMatch=NotOlderThan",
  "?gracePeriodSeconds=-1",
  "?propagationPolicy=Foreground",
  "?%zz",
  "?a=%00",
];

const accepts: readonly string[] = [
  "application/json",
  "*/*",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
  "application/json;as=Table;v=v1;g=meta.k8s.io",
  "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
  "text/html",
  ";;;,,,q=x",
  "a/b;".repeat(500),
];

const patchTypes: readonly string[] = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
  "application/apply-patch+cbor",
  "application/x",
];

const bodyTypes: readonly string[] = [
  "application/json",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
  "application/cbor",
  "application/json; charset=x",
  "text/plain",
  "",
];

/** Protobuf bodies as kubectl sends them. */
const recorded = JSON.parse(
  readFileSync(
    new URL("../../packages/apiserver/src/registry/protobuf/fixtures/kubectl-bodies.json", import.meta.url),
    "utf8",
  ),
) as readonly { readonly request: string; readonly body: string }[];

function recordedRequest(random: Random): FuzzRequest {
  const { request, body } = pick(random, recorded);
  const [method = "POST", path = "/"] = request.replace("namespaces/rec", `namespaces/${fuzzNamespace}`).split(" ");
  const bytes = Buffer.from(body, "base64");
  const type = { "content-type": "application/vnd.kubernetes.protobuf" };
  return { method, path, headers: { ...headers(random), ...type }, body: damaged(random, bytes) };
}

/** The next request. Objects have few names, so that what is stored stays small. */
export function fuzzRequest(random: Random): FuzzRequest {
  if (random.int(8) === 0) return otherRequest(random);
  if (random.int(12) === 0) return recordedRequest(random);
  const { path, object } = pick(random, samples);
  const name = `f-${random.int(20)}`;
  const subresource =
    random.int(6) === 0 ? pick(random, ["/status", "/scale", "/binding", "/eviction", "/token", "/x"]) : "";
  const item = `${path}/${name}${subresource}`;
  const query = pick(random, queries);
  const whole = { ...object, metadata: { name, namespace: fuzzNamespace } };
  const kind = random.int(10);
  if (kind < 2) return { method: "GET", path: (random.int(2) === 0 ? path : item) + query, headers: headers(random) };
  if (kind < 5) return { method: "POST", path: path + query, ...body(random, whole) };
  if (kind < 6) return { method: "PUT", path: item + query, ...body(random, whole) };
  if (kind < 9) return { method: "PATCH", path: item + query, ...patchBody(random, whole) };
  const target = random.int(20) === 0 ? path : item;
  return { method: "DELETE", path: target + query, headers: headers(random) };
}

function otherRequest(random: Random): FuzzRequest {
  const method = pick(random, ["GET", "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "BREW"]);
  const path = pick(random, otherPaths);
  const query = path.includes("?") ? "" : pick(random, queries);
  // Collections outside of the fuzzer's namespace are not deleted.
  if (method === "GET" || method === "HEAD" || method === "DELETE")
    return { method: "GET", path: path + query, headers: headers(random) };
  return { method, path: path + query, ...body(random, anyValue(random)) };
}

function headers(random: Random): Record<string, string> {
  const chosen: Record<string, string> = { accept: pick(random, accepts) };
  if (random.int(30) === 0) chosen["x-long"] = "x".repeat(random.int(12_000));
  if (random.int(30) === 0) chosen["if-none-match"] = '"x"';
  if (random.int(60) === 0) chosen["impersonate-user"] = pick(random, ["system:admin", "", "x"]);
  if (random.int(60) === 0) chosen["x-remote-user"] = "admin";
  return chosen;
}

type Body = Pick<FuzzRequest, "headers" | "body">;

function body(random: Random, object: unknown): Body {
  const changed = random.int(3) === 0 ? object : mutated(random, object);
  const type = random.int(3) === 0 ? pick(random, bodyTypes) : "application/json";
  return encoded(random, type, changed);
}

function patchBody(random: Random, object: object): Body {
  const type = pick(random, patchTypes);
  if (type !== "application/json-patch+json") return encoded(random, type, mutated(random, object));
  const operations = Array.from({ length: random.int(5) }, () => ({
    op: pick(random, ["add", "remove", "replace", "move", "copy", "test", "x"]),
    path: pick(random, ["", "/", "/metadata", "/metadata/labels/a", "/data/a", "/spec/-", "/spec/ports/0", "/~2", "x"]),
    from: pick(random, ["/metadata", "/data", ""]),
    value: anyValue(random),
  }));
  return encoded(random, type, operations);
}

function encoded(random: Random, type: string, value: unknown): Body {
  const text = type.includes("yaml") && random.int(2) === 0 ? yamlOf(value) : JSON.stringify(value);
  const bytes = Buffer.from(text ?? "");
  const prefix = type.includes("protobuf") ? Buffer.from("k8s\0") : Buffer.alloc(0);
  const whole = Buffer.concat([prefix, bytes]);
  return {
    headers: { ...headers(random), "content-type": type },
    body: random.int(5) === 0 ? damaged(random, whole) : whole,
  };
}

function yamlOf(value: unknown): string {
  try {
    return stringify(value);
  } catch {
    return "a: *b";
  }
}
