import type { UnstructuredObject, UserInfo } from "@setpoint/apimachinery";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { systemRandom } from "@setpoint/host/system";
import { expect, test } from "vitest";
import type { EndpointTable } from "../registry/endpoint.ts";
import { FakeStore } from "./fake-store.fixture.ts";
import { RbacAuthorizer } from "./rbac-authorizer.ts";
import { createReviewEndpoints } from "./review-endpoints.ts";
import { ServiceAccountTokens } from "./service-account-tokens.ts";
import { createTokenEndpoints } from "./token-endpoints.ts";

const admin: UserInfo = { username: "admin", groups: ["system:masters", "system:authenticated"] };

function world() {
  const clock = new VirtualClock(seededRandom(1));
  const reader = new FakeStore();
  const metadata = { name: "x", namespace: "default", uid: "u1" };
  reader.put("", "serviceaccounts", { apiVersion: "v1", kind: "ServiceAccount", metadata });
  const tokens = new ServiceAccountTokens({ clock, random: systemRandom, reader });
  const authorizer = new RbacAuthorizer({ reader, storage: reader });
  const table: EndpointTable = new Map([
    ...createTokenEndpoints({ clock, reader, tokens }),
    ...createReviewEndpoints({ authorizer, rulesFor: (user, namespace) => authorizer.rulesFor(user, namespace) }),
  ]);
  const ask = async (key: string, spec: unknown, place = {}, headers = {}): Promise<unknown> => {
    const [method = "", path = ""] = key.split(" ");
    const none = { group: "", version: "v1", resource: "", subresource: "", namespace: "", name: "" };
    const answer = await table.get(key)?.({
      request: { method: method as "POST", path, headers },
      attributes: { user: admin, verb: "create", isResourceRequest: true, path, ...none, ...place },
      body: { spec },
      signal: new AbortController().signal,
    });
    return answer?.kind === "object" ? answer.object : undefined;
  };
  return { ask, tokens, reader, clock };
}

const account = { namespace: "default", name: "x" };
const tokenRequest = "POST v1/serviceaccounts/token";

test("a requested token is one that a review accepts", async () => {
  const { ask } = world();
  const answer = await ask(tokenRequest, {}, account);
  expect(answer).toMatchObject({
    kind: "TokenRequest",
    spec: { audiences: ["https://kubernetes.default.svc"], expirationSeconds: 3600, boundObjectRef: null },
  });
  const { status } = answer as { readonly status: { readonly token: string } };
  expect(await ask("POST authentication.k8s.io/v1/tokenreviews", { token: status.token })).toMatchObject({
    status: { authenticated: true, user: { username: "system:serviceaccount:default:x", uid: "u1" } },
  });
  expect(await ask("POST authentication.k8s.io/v1/tokenreviews", { token: "bad" })).toMatchObject({
    status: { user: {}, error: "invalid bearer token" },
  });
});

test.each([
  ["authorization.k8s.io/v1/selfsubjectaccessreviews", { resourceAttributes: { verb: "get", resource: "pods" } }],
  ["authentication.k8s.io/v1/selfsubjectreviews", {}],
])("%s has no Table, and clients that take another form get that", async (path, spec) => {
  const { ask } = world();
  const table = "application/json;as=Table;v=v1;g=meta.k8s.io";
  await expect(ask(`POST ${path}`, spec, {}, { accept: table })).rejects.toMatchObject({ code: 406 });
  for (const accept of [`${table},application/json`, "application/json", ""])
    expect(await ask(`POST ${path}`, spec, {}, { accept })).toMatchObject({ status: {} });
});

function pod(serviceAccountName: string, more: object = {}): UnstructuredObject {
  const metadata = { name: "web", namespace: "default", uid: "p1", ...more };
  return { apiVersion: "v1", kind: "Pod", metadata, spec: { serviceAccountName, nodeName: "node-1" } };
}
const boundObjectRef = { kind: "Pod", apiVersion: "v1", name: "web", uid: "p1" };

test("a token is never bound to the pod of another account", async () => {
  const { ask, reader } = world();
  reader.put("", "pods", pod("other"));
  await expect(ask(tokenRequest, { boundObjectRef }, account)).rejects.toThrow(
    'cannot bind token for serviceaccount "x" to pod running with different serviceaccount name.',
  );
});

test("a token of a pod names its node, and ends a minute after the pod does, whatever keeps the pod", async () => {
  const { ask, reader, tokens, clock } = world();
  reader.put("", "pods", pod("x"));
  reader.put("", "nodes", { apiVersion: "v1", kind: "Node", metadata: { name: "node-1", uid: "n1" } });
  const answer = await ask(tokenRequest, { boundObjectRef }, account);
  const { token } = (answer as { readonly status: { readonly token: string } }).status;
  expect(tokens.authenticate(token)?.user.extra).toMatchObject({
    "authentication.kubernetes.io/pod-name": ["web"],
    "authentication.kubernetes.io/node-name": ["node-1"],
    "authentication.kubernetes.io/node-uid": ["n1"],
  });
  const deletionTimestamp = new Date(clock.now()).toISOString();
  reader.put("", "pods", pod("x", { deletionTimestamp, finalizers: ["example.com/stay"] }));
  expect(tokens.authenticate(token)).toBeDefined();
  await clock.run(61_000);
  expect(tokens.authenticate(token)).toBeUndefined();
});

const agent: UserInfo = { username: "system:node:node-1", groups: ["system:nodes", "system:authenticated"] };

test.each([
  [{}, "node requested token not bound to a pod"],
  [{ boundObjectRef: { ...boundObjectRef, uid: "" } }, "node requested token with a pod binding without a uid"],
  [{ boundObjectRef, audiences: ["vault"] }, 'audience "vault" not found in pod spec volume'],
])("a node agent gets tokens of its pods alone (%#)", async (spec, message) => {
  const { ask, reader } = world();
  reader.put("", "pods", pod("x"));
  await expect(ask(tokenRequest, spec, { ...account, user: agent })).rejects.toThrow(message);
  await ask(tokenRequest, { boundObjectRef }, { ...account, user: agent });
  const other = { ...agent, username: "system:node:node-2" };
  await expect(ask(tokenRequest, { boundObjectRef }, { ...account, user: other })).rejects.toThrow(
    'serviceaccounts "x" is forbidden: node requested token bound to a pod scheduled on a different node',
  );
});

test.each([
  [
    { expirationSeconds: 10 },
    'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 10: ' +
      "may not specify a duration less than 10 minutes",
  ],
  [{ boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "nope" } }, 'pods "nope" not found'],
  [
    { boundObjectRef: { kind: "Foo", apiVersion: "v1", name: "nope" } },
    "cannot bind token to object of type /v1, Kind=Foo",
  ],
])("token requests are refused in the words of a real server (%#)", async (spec, message) => {
  await expect(world().ask(tokenRequest, spec, account)).rejects.toThrow(message);
});

test("access reviews answer for others and for oneself", async () => {
  const { ask } = world();
  const resourceAttributes = { verb: "get", resource: "pods", namespace: "default" };
  const review = "POST authorization.k8s.io/v1/subjectaccessreviews";
  expect(await ask(review, { user: "bob", resourceAttributes })).toMatchObject({ status: { allowed: false } });
  expect(await ask("POST authorization.k8s.io/v1/selfsubjectaccessreviews", { resourceAttributes })).toMatchObject({
    status: { allowed: true },
  });
  await expect(ask(review, {})).rejects.toThrow(
    '.authorization.k8s.io "" is invalid: [spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes ' +
      'or resourceAttributes must be specified, spec.user: Invalid value: "": at least one of user or group must be specified]',
  );
});

test("a local review must be about its own namespace", async () => {
  const { ask } = world();
  const spec = { user: "bob", resourceAttributes: { verb: "get", resource: "pods", namespace: "other" } };
  const local = "POST authorization.k8s.io/v1/localsubjectaccessreviews";
  await expect(ask(local, spec, { namespace: "default" })).rejects.toThrow(
    'spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace',
  );
});

test("the rules of a cluster admin are everything", async () => {
  const answer = await world().ask("POST authorization.k8s.io/v1/selfsubjectrulesreviews", { namespace: "default" });
  expect(answer).toMatchObject({
    status: {
      resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
      nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
      incomplete: false,
    },
  });
});
