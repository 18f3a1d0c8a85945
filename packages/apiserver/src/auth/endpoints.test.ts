import type { UserInfo } from "@setpoint/apimachinery";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { systemRandom } from "@setpoint/host/system";
import { expect, test } from "vitest";
import type { EndpointTable } from "../registry/endpoint.ts";
import { FakeStore } from "./fake-store.ts";
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
  const ask = async (key: string, spec: unknown, place = {}): Promise<unknown> => {
    const [method = "", path = ""] = key.split(" ");
    const none = { group: "", version: "v1", resource: "", subresource: "", namespace: "", name: "" };
    const answer = await table.get(key)?.({
      request: { method: method as "POST", path },
      attributes: { user: admin, verb: "create", isResourceRequest: true, path, ...none, ...place },
      body: { spec },
      signal: new AbortController().signal,
    });
    return answer?.kind === "object" ? answer.object : undefined;
  };
  return { ask, tokens };
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
