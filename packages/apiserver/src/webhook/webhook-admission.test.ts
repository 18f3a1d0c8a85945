import type { UnstructuredObject, UserInfo } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import type { AdmissionPlugin } from "../registry/admission-plugin.ts";
import { serviceIpAllocator } from "../admission/service-ip-allocator.ts";
import { asking, startServer } from "../assembly/server.fixture.ts";
import { serveWebhooks } from "../assembly/serve-webhooks.ts";
import type { WebhookCall, WebhookCaller } from "./webhook-caller.ts";

const user: UserInfo = { username: "ada", groups: ["system:authenticated"] };

interface Review {
  readonly request: {
    readonly uid: string;
    readonly operation: string;
    readonly name: string;
    readonly object: UnstructuredObject | null;
    readonly oldObject: UnstructuredObject | null;
    readonly kind: { readonly version: string };
    readonly requestKind: { readonly version: string };
    readonly dryRun: boolean;
  };
}

type Hook = (review: Review, call: WebhookCall) => object | Promise<object>;

/** A server whose webhooks are functions, by the host of their URL. */
function world(hooks: Readonly<Record<string, Hook>>, admission: readonly AdmissionPlugin[] = []) {
  const { host, server } = startServer({ admission });
  const asked: string[] = [];
  const caller: WebhookCaller = {
    async call(call, signal) {
      const name = new URL(call.url).hostname;
      asked.push(name);
      const review = call.body as unknown as Review;
      const hook = hooks[name];
      if (hook === undefined) throw new Error("dial tcp 127.0.0.1:1: connect: connection refused");
      const aborted = new Promise<never>((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
      const response = await Promise.race([hook(review, call), aborted]);
      const answer = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response };
      return { status: 200, text: JSON.stringify("raw" in response ? response.raw : answer) };
    },
  };
  serveWebhooks(server, { caller });
  return { server, asked, clock: host.clock, send: asking<Body>(server, user) };
}

/** The fields that these tests look at, of objects and of Statuses. */
interface Body {
  readonly code?: number;
  readonly message?: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: { readonly clusterIP?: string; readonly ports?: readonly object[] };
  readonly metadata: { readonly resourceVersion?: string };
}

const registration = "/apis/admissionregistration.k8s.io/v1";
const configMaps = "/api/v1/namespaces/default/configmaps";

function configuration(kind: "Validating" | "Mutating", names: readonly string[], more: object = {}): object {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: `${kind}WebhookConfiguration`,
    metadata: { name: `${kind.toLowerCase()}-${names[0] ?? ""}` },
    webhooks: names.map((name) => ({
      name: `${name}.example.com`,
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      clientConfig: { url: `https://${name}/hook` },
      rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["configmaps"] }],
      ...more,
    })),
  };
}

const validating = `${registration}/validatingwebhookconfigurations`;
const mutating = `${registration}/mutatingwebhookconfigurations`;

function configMap(name: string, more: object = {}): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, ...more };
}

const allow: Hook = ({ request }) => ({ uid: request.uid, allowed: true });

function patching(...operations: readonly object[]): Hook {
  const patch = Buffer.from(JSON.stringify(operations)).toString("base64");
  return ({ request }) => ({ uid: request.uid, allowed: true, patchType: "JSONPatch", patch });
}

function denying(status: object | undefined): Hook {
  return ({ request }) => ({ uid: request.uid, allowed: false, ...(status === undefined ? {} : { status }) });
}

// Recorded from kube-apiserver 1.36.3.
test.each([
  [{ message: "too many" }, 400, 'admission webhook "a.example.com" denied the request: too many'],
  [{ message: "no", code: 403, reason: "Forbidden" }, 403, 'admission webhook "a.example.com" denied the request: no'],
  [{ reason: "Because" }, 400, 'admission webhook "a.example.com" denied the request: Because'],
  [undefined, 400, 'admission webhook "a.example.com" denied the request without explanation'],
])("a refusal %j is answered as a real server does", async (status, code, message) => {
  const { send } = world({ a: denying(status) });
  await send("POST", validating, configuration("Validating", ["a"]));
  expect((await send("POST", configMaps, configMap("c"))).body).toMatchObject({ code, message });
  expect((await send("GET", `${configMaps}/c`)).code).toBe(404);
});

test("a connection to a pod goes through webhooks, which see its options", async () => {
  const reviews: Review["request"][] = [];
  const hook: Hook = ({ request }) => {
    reviews.push(request);
    return { uid: request.uid, allowed: false, status: { message: "attaching is not allowed" } };
  };
  const { server, send } = world({ a: hook });
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CONNECT"], resources: ["pods/attach"] }];
  await send("POST", validating, configuration("Validating", ["a"], { rules }));
  const place = { group: "", version: "v1", resource: "pods", namespace: "default", name: "web" };
  const attributes = { ...place, user, verb: "create", isResourceRequest: true, path: "" };
  const options = { stdin: true, container: "main" };
  await server.admitConnection({ ...attributes, subresource: "exec" }, options);
  const attach = server.admitConnection({ ...attributes, subresource: "attach" }, options);
  await expect(attach).rejects.toThrow(
    'admission webhook "a.example.com" denied the request: attaching is not allowed',
  );
  expect(reviews).toMatchObject([
    {
      operation: "CONNECT",
      name: "web",
      subResource: "attach",
      kind: { group: "", version: "v1", kind: "PodAttachOptions" },
      resource: { group: "", version: "v1", resource: "pods" },
      options: null,
    },
  ]);
  expect(reviews[0]?.object).toEqual({ apiVersion: "v1", kind: "PodAttachOptions", ...options });
});

const failed = 'Internal error occurred: failed calling webhook "a.example.com": ';

test.each([99_999, 600, 400.5, 200, "403"])("a refusal with the code %j is answered with 400", async (code) => {
  const { send } = world({ a: denying({ message: "no", code }) });
  await send("POST", validating, configuration("Validating", ["a"]));
  expect((await send("POST", configMaps, configMap("c"))).body).toMatchObject({ code: 400 });
});

test("an answer of millions of values is refused before it is parsed", async () => {
  const raw = { x: Array.from({ length: 1_000_001 }, () => 0) };
  const { send } = world({ a: () => ({ raw }) });
  await send("POST", validating, configuration("Validating", ["a"]));
  const message = `${failed}failed to call webhook: the answer has too many values`;
  expect((await send("POST", configMaps, configMap("c"))).body).toMatchObject({ code: 500, message });
});

test("a patch that is nested deeper than the stack is refused by its depth", async () => {
  const value = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
  const patch = Buffer.from(`[{"op":"add","path":"/data","value":${value}}]`).toString("base64");
  const { send } = world({ a: ({ request }) => ({ uid: request.uid, allowed: true, patchType: "JSONPatch", patch }) });
  await send("POST", mutating, configuration("Mutating", ["a"]));
  const { body } = await send("POST", configMaps, configMap("c"));
  expect(body.message).toContain("exceeded max depth");
});

test.each<[string, Hook | undefined, string]>([
  [
    "unreachable",
    undefined,
    'failed to call webhook: Post "https://a/hook?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused',
  ],
  [
    "without a response",
    () => ({ raw: { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" } }),
    "received invalid webhook response: webhook response was absent",
  ],
  ["of a stranger", () => ({ uid: "x", allowed: true }), "received invalid webhook response: expected response.uid="],
  ["that patches", patching(), "received invalid webhook response: validating webhook may not return response.patch"],
])("an answer %s fails the request", async (_, hook, message) => {
  const { send } = world(hook === undefined ? {} : { a: hook });
  await send("POST", validating, configuration("Validating", ["a"]));
  const answer = await send("POST", configMaps, configMap("c"));
  expect(answer.body).toMatchObject({ code: 500, reason: "InternalError" });
  expect(answer.body.message).toContain(`${failed}${message}`);
});

test("a webhook that is asked too long fails the request at its timeout, or does not count", async () => {
  const never: Hook = () => new Promise(() => undefined);
  const { send, clock } = world({ a: never });
  await send("POST", validating, configuration("Validating", ["a"], { timeoutSeconds: 3 }));
  const pending = send("POST", configMaps, configMap("c"));
  await clock.run(3_000);
  expect((await pending).body.message).toBe(
    `${failed}failed to call webhook: Post "https://a/hook?timeout=3s": context deadline exceeded`,
  );
  await send("DELETE", `${validating}/validating-a`);
  await send("POST", validating, configuration("Validating", ["a"], { failurePolicy: "Ignore", timeoutSeconds: 3 }));
  const ignored = send("POST", configMaps, configMap("c"));
  await clock.run(3_000);
  expect((await ignored).code).toBe(201);
});

test("patches are made one after the other, and defaults and validation see them", async () => {
  const { send } = world({
    a: patching({ op: "add", path: "/data", value: { from: "a" } }),
    b: ({ request }, call) =>
      patching({ op: "add", path: "/data/seen", value: JSON.stringify(request.object?.["data"]) })({ request }, call),
    c: patching({ op: "add", path: "/data", value: 7 }),
  });
  await send("POST", mutating, configuration("Mutating", ["a", "b"]));
  const made = await send("POST", configMaps, configMap("c"));
  expect(made.body.data).toEqual({ from: "a", seen: '{"from":"a"}' });
  await send("POST", mutating, configuration("Mutating", ["c"]));
  expect((await send("POST", configMaps, configMap("d"))).body.code).toBe(500);
});

test("a webhook with reinvocationPolicy IfNeeded is asked again when a later one changed the object", async () => {
  const { send, asked } = world({ a: allow, b: patching({ op: "add", path: "/data", value: { x: "y" } }) });
  await send("POST", mutating, configuration("Mutating", ["a", "b"], { reinvocationPolicy: "IfNeeded" }));
  await send("POST", configMaps, configMap("c"));
  expect(asked).toEqual(["a", "b", "a"]);
});

test("only requests that the rules, selectors and conditions mean are asked about", async () => {
  const { send, asked } = world({ a: allow });
  const more = {
    objectSelector: { matchLabels: { watched: "yes" } },
    matchConditions: [{ name: "not-skipped", expression: "object.metadata.name != 'skipped'" }],
  };
  await send("POST", validating, configuration("Validating", ["a"], more));
  const labels = { watched: "yes" };
  await send("POST", configMaps, configMap("plain"));
  await send("POST", configMaps, { ...configMap("skipped"), metadata: { name: "skipped", labels } });
  await send("POST", "/api/v1/namespaces/default/secrets", {
    kind: "Secret",
    apiVersion: "v1",
    metadata: { name: "s", labels },
  });
  expect(asked).toEqual([]);
  await send("POST", configMaps, { ...configMap("meant"), metadata: { name: "meant", labels } });
  expect(asked).toEqual(["a"]);
});

test("a condition that cannot be evaluated refuses the request", async () => {
  const { send } = world({ a: allow });
  const matchConditions = [{ name: "c", expression: "object.data.x == 'y'" }];
  await send("POST", validating, configuration("Validating", ["a"], { matchConditions }));
  expect((await send("POST", configMaps, configMap("c"))).body).toMatchObject({
    code: 403,
    message: `configmaps "c" is forbidden: expression 'object.data.x == 'y'' resulted in error: no such key: data`,
  });
});

test("updates and deletions show the old object, dry runs say so, warnings reach the client", async () => {
  const seen: Review["request"][] = [];
  const { send } = world({
    a: ({ request }) => {
      seen.push(request);
      return { uid: request.uid, allowed: true, warnings: ["careful"] };
    },
  });
  await send("POST", configMaps, configMap("c"));
  await send("POST", validating, configuration("Validating", ["a"]));
  const answer = await send("PATCH", `${configMaps}/c`, { data: { x: "1" } }, { dryRun: "All" });
  expect(answer.warning).toContain("careful");
  await send("DELETE", `${configMaps}/c`);
  expect(seen).toMatchObject([
    { operation: "UPDATE", dryRun: true, object: { data: { x: "1" } }, oldObject: { metadata: { name: "c" } } },
    { operation: "DELETE", dryRun: false, object: null, oldObject: { metadata: { name: "c" } } },
  ]);
});

test("a rule for another version gets the object in that version", async () => {
  const seen: string[] = [];
  const { send } = world({
    a: ({ request }) => {
      seen.push(`${request.requestKind.version} as ${request.kind.version}: ${String(request.object?.apiVersion)}`);
      return { uid: request.uid, allowed: true };
    },
  });
  const rules = [{ apiGroups: ["autoscaling"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["*"] }];
  await send("POST", validating, configuration("Validating", ["a"], { rules }));
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
  const spec = { maxReplicas: 3, scaleTargetRef };
  const autoscaler = { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", metadata: { name: "h" }, spec };
  await send("POST", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", autoscaler);
  expect(seen).toEqual(["v2 as v1: autoscaling/v1"]);
});

test("a write that another one overtakes while its webhook is asked begins again on the newest object", async () => {
  const overtaken = world({
    a: async ({ request }) => {
      if (request.operation === "UPDATE" && interfere) {
        interfere = false;
        const labels = { overtaken: String(++times) };
        await overtaken.send("PATCH", `${configMaps}/c`, { metadata: { labels } });
      }
      return { uid: request.uid, allowed: true };
    },
  });
  let interfere = false;
  let times = 0;
  await overtaken.send("POST", configMaps, configMap("c"));
  await overtaken.send("POST", validating, configuration("Validating", ["a"]));
  interfere = true;
  const patched = await overtaken.send("PATCH", `${configMaps}/c`, { data: { x: "1" } });
  expect(patched.body).toMatchObject({ metadata: { labels: { overtaken: "1" } }, data: { x: "1" } });
  interfere = true;
  const stale = { ...configMap("c"), metadata: { name: "c", resourceVersion: patched.body.metadata.resourceVersion } };
  expect((await overtaken.send("PUT", `${configMaps}/c`, stale)).code).toBe(409);
});

test("without a webhook that means it, a write stays synchronous", async () => {
  const { send, asked } = world({ a: allow });
  await send("POST", validating, configuration("Validating", ["a"]));
  await send("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "n" } });
  expect(asked).toEqual([]);
});

// Compared with kube-apiserver 1.36.3.
test("who creates an object whose name is taken is refused for what is wrong with it first", async () => {
  const { send, asked } = world({ check: ({ request }) => ({ uid: request.uid, allowed: true }) });
  await send("POST", validating, configuration("Validating", ["check"]));
  expect((await send("POST", configMaps, configMap("taken"))).code).toBe(201);
  const wrong = await send("POST", configMaps, configMap("taken", { data: { "a b": "x" } }));
  expect(wrong.body.message).toMatch(/^ConfigMap "taken" is invalid: data\[a b\]: /);
  expect((await send("POST", configMaps, configMap("taken"))).body.message).toBe('configmaps "taken" already exists');
  expect(asked).toEqual(["check", "check"]);
});

/** A server that gives Services addresses of a range, with a webhook for all Services. */
async function servicesWorld(hook: Hook, cidr?: string) {
  const { send } = world({ hook }, [serviceIpAllocator(cidr)]);
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["services"] }];
  await send("POST", mutating, configuration("Mutating", ["hook"], { rules }));
  return (name: string, spec: object) => {
    const object = { apiVersion: "v1", kind: "Service", metadata: { name }, spec };
    return send("POST", "/api/v1/namespaces/default/services", object);
  };
}

const slowly: Hook = async (review, call) => {
  await new Promise((resolve) => setImmediate(resolve));
  return allow(review, call);
};

test("two Services that wait for a webhook at the same time do not get the same address or port", async () => {
  const create = await servicesWorld(slowly);
  const ports = [{ port: 80, nodePort: 30_080 }];
  const sameAddress = { clusterIP: "127.96.0.77", ports: [{ port: 80 }] };
  const answers = await Promise.all([
    ...["a", "b"].map((name) => create(name, { type: "NodePort", ports })),
    ...["c", "d"].map((name) => create(name, { type: "NodePort", ...sameAddress })),
  ]);
  expect(answers.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([201, 201, 422, 422]);
  expect(answers.map(({ body }) => body.message).join("\n")).toMatch(/provided port is already allocated/);
  expect(answers.map(({ body }) => body.message).join("\n")).toMatch(/provided IP is already allocated/);
});

test("a Service whose address was taken while it waited for a webhook gets another, and its webhooks run again", async () => {
  const create = await servicesWorld(async (review, call) => {
    await new Promise((resolve) => setImmediate(resolve));
    return patching({ op: "add", path: "/spec/ports/-", value: { name: "b", port: 81 } })(review, call);
  }, "10.0.0.0/29");
  const ports = [{ name: "a", port: 80 }];
  const answers = await Promise.all(["a", "b", "c", "d"].map((name) => create(name, { ports })));
  expect(answers.map(({ code }) => code)).toEqual([201, 201, 201, 201]);
  expect(new Set(answers.map(({ body }) => body.spec?.clusterIP)).size).toBe(4);
  for (const { body } of answers) expect(body.spec?.ports).toHaveLength(2);
});
