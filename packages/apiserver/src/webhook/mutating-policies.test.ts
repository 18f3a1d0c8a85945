import type { UserInfo } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import { asking, startServer } from "../assembly/server.fixture.ts";
import { serveWebhooks } from "../assembly/serve-webhooks.ts";

const user: UserInfo = { username: "ada", groups: ["dev"] };
const registration = "/apis/admissionregistration.k8s.io/v1";

interface Answered {
  readonly code?: number;
  readonly message?: string;
  readonly data?: unknown;
  readonly spec?: unknown;
  readonly metadata?: { readonly labels?: unknown };
}

async function world(spec: object, resource = "configmaps", group = "") {
  const { server } = startServer();
  serveWebhooks(server, { caller: { call: () => Promise.reject(new Error("nobody is called")) } });
  const ask = asking<Answered>(server, user);
  const post = async (path: string, body: object): Promise<Answered> => (await ask("POST", path, body)).body;
  const apiVersion = "admissionregistration.k8s.io/v1";
  const resourceRules = [{ apiGroups: [group], apiVersions: ["v1"], operations: ["CREATE"], resources: [resource] }];
  const policy = await post(`${registration}/mutatingadmissionpolicies`, {
    apiVersion,
    kind: "MutatingAdmissionPolicy",
    metadata: { name: "p" },
    spec: { matchConstraints: { resourceRules }, reinvocationPolicy: "Never", ...spec },
  });
  await post(`${registration}/mutatingadmissionpolicybindings`, {
    apiVersion,
    kind: "MutatingAdmissionPolicyBinding",
    metadata: { name: "b" },
    spec: { policyName: "p" },
  });
  const labels = { probe: "1" };
  const create = () =>
    post("/api/v1/namespaces/default/configmaps", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "c", labels },
      data: { a: "b" },
    });
  return { create, policy, post };
}

const apply = (expression: string): object => ({
  mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression } }],
});
const patch = (expression: string): object => ({ mutations: [{ patchType: "JSONPatch", jsonPatch: { expression } }] });

// Recorded from kube-apiserver 1.36.3.
test.each<[string, object, object]>([
  [
    "an applied configuration is merged",
    apply("Object{metadata: Object.metadata{labels: {'x': 'y'}}, data: {'z': object.data.a}}"),
    { data: { a: "b", z: "b" }, metadata: { labels: { probe: "1", x: "y" } } },
  ],
  [
    "a variable is seen",
    { ...apply("Object{data: {'v': variables.v}}"), variables: [{ name: "v", expression: "object.metadata.name" }] },
    { data: { a: "b", v: "c" } },
  ],
  [
    "a JSON patch is applied",
    patch("[JSONPatch{op: 'add', path: '/data/q', value: 'r'}, JSONPatch{op: 'remove', path: '/data/a'}]"),
    { data: { q: "r" } },
  ],
  [
    "an error refuses",
    apply("Object{data: {'z': object.data.nope}}"),
    {
      code: 403,
      reason: "Invalid",
      message:
        "policy 'p' with binding 'b' denied request: expression 'Object{data: {'z': object.data.nope}}' resulted in error: no such key: nope",
    },
  ],
  [
    "an error is ignored where the policy says so",
    { ...apply("Object{data: {'z': object.data.nope}}"), failurePolicy: "Ignore" },
    { data: { a: "b" } },
  ],
  [
    "a condition that is false changes nothing",
    { ...apply("Object{data: {'z': 'y'}}"), matchConditions: [{ name: "m", expression: "false" }] },
    { data: { a: "b" } },
  ],
])("%s", async (_, spec, expected) => {
  const { create } = await world(spec);
  expect(await create()).toMatchObject(expected);
});

test("lists with keys are merged by their keys", async () => {
  const expression =
    "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: " +
    "[Object.spec.template.spec.containers{name: 'proxy', image: 'proxy:1'}]}}}}";
  const { post } = await world(apply(expression), "deployments", "apps");
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } };
  const made = await post("/apis/apps/v1/namespaces/default/deployments", {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web" },
    spec: { selector: { matchLabels: labels }, template },
  });
  expect(made.spec).toMatchObject({ template: { spec: { containers: [{ name: "web" }, { name: "proxy" }] } } });
});

test.each([
  [
    apply("'x'"),
    "spec.mutations[0].applyConfiguration.expression: Invalid value: \"'x'\": must evaluate to Object but got string",
  ],
  [
    patch("'x'"),
    "spec.mutations[0].jsonPatch.expression: Invalid value: \"'x'\": must evaluate to list(JSONPatch) but got string",
  ],
])("a mutation of a wrong type is refused: %j", async (spec, problem) => {
  const { policy } = await world(spec);
  expect(policy.message).toBe(`MutatingAdmissionPolicy.admissionregistration.k8s.io "p" is invalid: ${problem}`);
});
