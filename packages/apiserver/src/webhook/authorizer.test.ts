import { readFileSync } from "node:fs";
import type { ApiResponse, Transport, UnstructuredObject, UserInfo } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import type { ApiServer } from "../assembly/api-server.ts";
import { mastersGroup, RbacAuthorizer } from "../auth/rbac-authorizer.ts";
import { startServer } from "../assembly/server.fixture.ts";
import { serveWebhooks } from "../assembly/serve-webhooks.ts";

interface Recorded {
  /** Roles and bindings. */
  readonly setup: readonly UnstructuredObject[];
  readonly cases: readonly {
    readonly spec: object;
    /** Why the policy was refused. */
    readonly causes?: readonly string[];
    /** What became of the ConfigMap. */
    readonly code?: number;
    readonly message?: string;
  }[];
}

/** Recorded from kube-apiserver 1.36.3. */
const recorded = JSON.parse(
  readFileSync(new URL("authorizer.recorded.json", import.meta.url), "utf8"),
) as unknown as Recorded;

const admin: UserInfo = { username: "admin", groups: [mastersGroup] };
const ada: UserInfo = { username: "ada", groups: ["system:authenticated"] };
const apiVersion = "admissionregistration.k8s.io/v1";
const resourceRules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }];

async function world(): Promise<ApiServer> {
  const { storage, server } = startServer();
  server.setAuthorizer(new RbacAuthorizer({ reader: server.reader, storage }));
  serveWebhooks(server, { caller: { call: () => Promise.reject(new Error("nobody is called")) } });
  for (const object of recorded.setup) await register(server, object);
  return server;
}

async function post(transport: Transport, path: string, body: object): Promise<Record<string, unknown>> {
  const answer: ApiResponse = await transport.send({ method: "POST", path, body });
  return { ...(answer.kind === "object" ? (answer.object as object) : {}), httpStatus: answer.status };
}

const plurals: Readonly<Record<string, string>> = {
  ClusterRole: "clusterroles",
  ClusterRoleBinding: "clusterrolebindings",
  ValidatingAdmissionPolicy: "validatingadmissionpolicies",
  ValidatingAdmissionPolicyBinding: "validatingadmissionpolicybindings",
  MutatingAdmissionPolicy: "mutatingadmissionpolicies",
  MutatingAdmissionPolicyBinding: "mutatingadmissionpolicybindings",
  ValidatingWebhookConfiguration: "validatingwebhookconfigurations",
};

function register(server: ApiServer, object: Readonly<Record<string, unknown>>) {
  const path = `/apis/${String(object["apiVersion"])}/${plurals[String(object["kind"])] ?? ""}`;
  return post(server.transport(admin), path, object);
}

function create(server: ApiServer, name = "c"): Promise<Record<string, unknown>> {
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { a: "b" } };
  return post(server.transport(ada), "/api/v1/namespaces/default/configmaps", body);
}

test.each(recorded.cases)("a policy that asks the authorizer is answered as by a real server: $spec", async (each) => {
  const server = await world();
  const policy = { apiVersion, kind: "ValidatingAdmissionPolicy", metadata: { name: "p" } };
  const made = await register(server, { ...policy, spec: { matchConstraints: { resourceRules }, ...each.spec } });
  const { causes } = (made["details"] ?? {}) as { causes?: readonly { field: string; message: string }[] };
  expect(causes?.map(({ field, message }) => `${field}: ${message}`)).toEqual(each.causes);
  if (each.causes !== undefined) return;
  const spec = { policyName: "p", validationActions: ["Deny"] };
  await register(server, { apiVersion, kind: "ValidatingAdmissionPolicyBinding", metadata: { name: "b" }, spec });
  const { httpStatus, message } = await create(server);
  expect(httpStatus).toBe(each.code);
  const denied = `configmaps "c" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: `;
  expect(message).toBe(each.message === undefined ? undefined : `${denied}${each.message}`);
});

test("a mutating policy and a webhook's conditions ask the authorizer too", async () => {
  const server = await world();
  const may = "authorizer.requestResource.check('delete').allowed()";
  const expression = `Object{data: {"may": ${may} ? "yes" : "no"}}`;
  const mutations = [{ patchType: "ApplyConfiguration", applyConfiguration: { expression } }];
  const policy = { apiVersion, kind: "MutatingAdmissionPolicy", metadata: { name: "p" } };
  await register(server, {
    ...policy,
    spec: { matchConstraints: { resourceRules }, reinvocationPolicy: "Never", mutations },
  });
  const spec = { policyName: "p" };
  await register(server, { apiVersion, kind: "MutatingAdmissionPolicyBinding", metadata: { name: "b" }, spec });
  const webhook = (name: string, condition: string) => ({
    name,
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    clientConfig: { url: "https://127.0.0.1:1/" },
    rules: resourceRules,
    matchConditions: [{ name: "may", expression: condition }],
  });
  const configuration = { apiVersion, kind: "ValidatingWebhookConfiguration", metadata: { name: "w" } };
  await register(server, { ...configuration, webhooks: [webhook("not.example.com", `!${may}`)] });
  expect(await create(server)).toMatchObject({ data: { a: "b", may: "yes" } });
  const asked = { ...configuration, metadata: { name: "x" }, webhooks: [webhook("asked.example.com", may)] };
  await register(server, asked);
  expect(await create(server, "d")).toMatchObject({
    message: expect.stringContaining('failed calling webhook "asked.example.com"'),
  });
});
