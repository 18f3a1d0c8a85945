import { readFileSync } from "node:fs";
import { isJsonObject, type UserInfo } from "@setpoint/apimachinery";
import { expect, onTestFinished, test } from "vitest";
import { builtinResources } from "../registry/builtin/builtin-resources.ts";
import { serveCustomResources, withCrdStrategy } from "../assembly/serve-custom-resources.ts";
import { startServer } from "../assembly/server.fixture.ts";
import { serveWebhooks } from "../assembly/serve-webhooks.ts";

interface Recorded {
  readonly name: string;
  readonly method: "PUT" | "PATCH";
  readonly path: string;
  readonly contentType: string;
  readonly body: object;
  /** What the mutating webhook does to it. */
  readonly patch?: readonly object[];
  readonly code: number;
  readonly answer: object;
  readonly reviews: readonly { readonly by: string; readonly request: object }[];
}

/**
 * Recorded from kube-apiserver 1.36.3, one after the other, without users, managers, times and identities,
 * and without Go's words for a wrong type.
 */
const recorded = JSON.parse(
  readFileSync(new URL("scale.recorded.json", import.meta.url), "utf8"),
) as unknown as readonly Recorded[];

const left = new Set(["uid", "managedFields", "creationTimestamp", "resourceVersion", "userInfo"]);

function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cleaned);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) => (left.has(key) ? [] : [[key, cleaned(each)]])),
  );
}

const user: UserInfo = { username: "admin", groups: ["system:masters"] };
const registration = "admissionregistration.k8s.io/v1";

function widgets(): object {
  const integer = { type: "integer" };
  const text = { type: "string" };
  const openAPIV3Schema = {
    type: "object",
    properties: {
      spec: { type: "object", properties: { replicas: integer } },
      status: { type: "object", properties: { replicas: integer, selector: text } },
    },
  };
  const [specReplicasPath, statusReplicasPath] = [".spec.replicas", ".status.replicas"];
  const scale = { specReplicasPath, statusReplicasPath, labelSelectorPath: ".status.selector" };
  const subresources = { status: {}, scale };
  const version = { served: true, schema: { openAPIV3Schema }, subresources };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget" },
      versions: ["v1", "v2"].map((name) => ({ ...version, name, storage: name === "v1" })),
    },
  };
}

function deployment(): object {
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" }, spec };
}

function hook(kind: "Mutating" | "Validating", name: string): object {
  const rules = [
    { apiGroups: ["apps", "example.com"], apiVersions: ["v1"], operations: ["*"], resources: ["*/scale"] },
  ];
  const clientConfig = { url: `https://${name}/` };
  const webhook = { name: `${name}.example.com`, admissionReviewVersions: ["v1"], sideEffects: "None", clientConfig };
  return {
    apiVersion: registration,
    kind: `${kind}WebhookConfiguration`,
    metadata: { name },
    webhooks: [{ ...webhook, rules }],
  };
}

function policy(): readonly object[] {
  const rule = { apiGroups: ["apps"], apiVersions: ["v1"], operations: ["*"], resources: ["deployments/scale"] };
  const expression = "object.spec.replicas < 9 && object.kind == 'Scale' && oldObject.status.selector == 'app=web'";
  const spec = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression }] };
  const metadata = { name: "sc" };
  const bound = { policyName: "sc", validationActions: ["Deny"] };
  return [
    { apiVersion: registration, kind: "ValidatingAdmissionPolicy", metadata, spec },
    { apiVersion: registration, kind: "ValidatingAdmissionPolicyBinding", metadata, spec: bound },
  ];
}

test("webhooks and policies see a write to a scale as a Scale, as those of a real server do", async () => {
  const { host, storage, server } = startServer({ builtin: withCrdStrategy(builtinResources()) });
  const custom = serveCustomResources(server, { host, storage });
  onTestFinished(() => custom.stop());
  let reviews: unknown[] = [];
  let patch: readonly object[] | undefined;
  const call = async ({ url, body }: { readonly url: string; readonly body: Readonly<Record<string, unknown>> }) => {
    const by = new URL(url).hostname;
    const request = body["request"] as { readonly uid: string };
    reviews.push({ by, request: cleaned(structuredClone(request)) });
    const patched = { patchType: "JSONPatch", patch: btoa(JSON.stringify(patch)) };
    const response = { uid: request.uid, allowed: true, ...(by === "mutate" && patch !== undefined ? patched : {}) };
    const answer = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response };
    return { status: 200, text: JSON.stringify(answer) };
  };
  using _webhooks = serveWebhooks(server, { caller: { call } });
  const transport = server.transport(user);
  const post = (path: string, body: object) => transport.send({ method: "POST", path, body });
  await post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", widgets());
  await host.clock.run(1_000);
  await post("/apis/apps/v1/namespaces/default/deployments", deployment());
  const widget = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" }, spec: { replicas: 1 } };
  await post("/apis/example.com/v1/namespaces/default/widgets", widget);
  await post(`/apis/${registration}/mutatingwebhookconfigurations`, hook("Mutating", "mutate"));
  await post(`/apis/${registration}/validatingwebhookconfigurations`, hook("Validating", "validate"));
  for (const each of recorded) {
    if (each.name === "policy allows") {
      const [made = {}, binding = {}] = policy();
      await post(`/apis/${registration}/validatingadmissionpolicies`, made);
      await post(`/apis/${registration}/validatingadmissionpolicybindings`, binding);
    }
    [reviews, patch] = [[], each.patch];
    const { method, path, body, contentType } = each;
    const answer = await transport.send({ method, path, body, headers: { "content-type": contentType } });
    const object: unknown = answer.kind === "object" ? answer.object : {};
    expect({ name: each.name, code: answer.status, answer: object, reviews }).toMatchObject({
      name: each.name,
      code: each.code,
      answer: each.answer,
    });
    expect({ name: each.name, reviews }).toEqual({ name: each.name, reviews: each.reviews });
  }
});
