import type { UserInfo } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import { asking, startServer } from "../assembly/server.fixture.ts";
import { serveWebhooks } from "../assembly/serve-webhooks.ts";

const user: UserInfo = { username: "ada", groups: ["dev"] };
const registration = "/apis/admissionregistration.k8s.io/v1";
const configMaps = "/api/v1/namespaces/default/configmaps";

interface Answered {
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
}

async function world(spec: object, binding: object = {}) {
  const { server } = startServer();
  serveWebhooks(server, { caller: { call: () => Promise.reject(new Error("nobody is called")) } });
  const ask = asking<Answered>(server, user);
  const post = (path: string, body: object) => ask("POST", path, body);
  const resourceRules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }];
  const apiVersion = "admissionregistration.k8s.io/v1";
  const policy = { apiVersion, kind: "ValidatingAdmissionPolicy", metadata: { name: "p" } };
  const made = await post(`${registration}/validatingadmissionpolicies`, {
    ...policy,
    spec: { matchConstraints: { resourceRules }, ...spec },
  });
  await post(`${registration}/validatingadmissionpolicybindings`, {
    apiVersion,
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: "b" },
    spec: { policyName: "p", validationActions: ["Deny"], ...binding },
  });
  const create = (data: object, name = "c") =>
    post(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data });
  return { create, made };
}

const denied = `configmaps "c" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: `;

// Recorded from kube-apiserver 1.36.3.
test.each<[string, object, number, string, string]>([
  [
    "its expression",
    { validations: [{ expression: "object.data.a == 'c'" }] },
    422,
    "Invalid",
    "failed expression: object.data.a == 'c'",
  ],
  [
    "its message",
    { validations: [{ expression: "object.data.a == 'c'", message: "must be c" }] },
    422,
    "Invalid",
    "must be c",
  ],
  [
    "the first of two",
    {
      validations: [
        { expression: "false", message: "one" },
        { expression: "false", message: "two" },
      ],
    },
    422,
    "Invalid",
    "one",
  ],
  [
    "a computed message",
    { validations: [{ expression: "false", messageExpression: "'not ' + object.data.a" }] },
    422,
    "Invalid",
    "not b",
  ],
  ["its reason", { validations: [{ expression: "false", message: "m", reason: "Forbidden" }] }, 403, "Forbidden", "m"],
  [
    "an error",
    { validations: [{ expression: "object.data.x == 'c'" }] },
    422,
    "Invalid",
    "expression 'object.data.x == 'c'' resulted in error: no such key: x",
  ],
  [
    "a variable",
    { variables: [{ name: "a", expression: "object.data.a" }], validations: [{ expression: "variables.a == 'c'" }] },
    422,
    "Invalid",
    "failed expression: variables.a == 'c'",
  ],
  [
    "the request",
    {
      validations: [{ expression: "false", messageExpression: "request.userInfo.username + ' ' + request.operation" }],
    },
    422,
    "Invalid",
    "ada CREATE",
  ],
  [
    "a condition's error",
    { matchConditions: [{ name: "m", expression: "object.data.z == ''" }], validations: [{ expression: "false" }] },
    422,
    "Invalid",
    "expression 'object.data.z == ''' resulted in error: no such key: z",
  ],
])("a refusal names %s as a real server does", async (_, spec, code, reason, message) => {
  const { create } = await world(spec);
  const { body } = await create({ a: "b" });
  expect(body).toMatchObject({ code, reason, message: `${denied}${message}` });
});

test.each<[string, object, object]>([
  ["holds", { validations: [{ expression: "object.data.a == 'b'" }] }, {}],
  ["fails but is ignored", { failurePolicy: "Ignore", validations: [{ expression: "object.data.x == ''" }] }, {}],
  [
    "is not meant by its conditions",
    { matchConditions: [{ name: "m", expression: "false" }], validations: [{ expression: "false" }] },
    {},
  ],
  [
    "is bound to other objects",
    { validations: [{ expression: "false" }] },
    { matchResources: { objectSelector: { matchLabels: { a: "b" } } } },
  ],
  ["is bound by nobody", { validations: [{ expression: "false" }] }, { policyName: "other" }],
])("a policy that %s refuses nothing", async (_, spec, binding) => {
  const { create } = await world(spec, binding);
  expect((await create({ a: "b" })).code).toBe(201);
});

test("a policy that only warns tells the client", async () => {
  const { create } = await world(
    { validations: [{ expression: "false", message: "careful" }] },
    { validationActions: ["Warn", "Audit"] },
  );
  const { code, warning } = await create({});
  expect(code).toBe(201);
  expect(warning).toContain("Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': careful");
});

test("parameters are looked up when a request comes", async () => {
  const spec = {
    paramKind: { apiVersion: "v1", kind: "ConfigMap" },
    matchConditions: [{ name: "m", expression: "object.metadata.name == 'c'" }],
    validations: [
      {
        expression: "int(object.data.size) <= int(params.data.max)",
        messageExpression: "'at most ' + params.data.max",
      },
    ],
  };
  const paramRef = { name: "limits", namespace: "default", parameterNotFoundAction: "Deny" };
  const { create } = await world(spec, { paramRef });
  const missing = "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction";
  expect((await create({ size: "1" })).body.message).toBe(`${denied}${missing}`);
  const allowing = await world(spec, { paramRef: { ...paramRef, parameterNotFoundAction: "Allow" } });
  await allowing.create({ max: "3" }, "limits");
  expect((await allowing.create({ size: "4" })).body.message).toBe(`${denied}at most 3`);
  expect((await allowing.create({ size: "3" })).code).toBe(201);
});
