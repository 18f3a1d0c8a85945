import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { systemRandom } from "@setpoint/host/system";
import { expect, test } from "vitest";
import { createAuthenticator } from "./authenticator.ts";
import { FakeStore } from "./fake-store.fixture.ts";
import { RbacAuthorizer } from "./rbac-authorizer.ts";
import { ServiceAccountTokens } from "./service-account-tokens.ts";

const minuteMs = 60_000;
const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "x", namespace: "shop", uid: "u1" } };
const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "web", namespace: "shop", uid: "p1" } };

function world() {
  const clock = new VirtualClock(seededRandom(1));
  const store = new FakeStore();
  store.put("", "serviceaccounts", account);
  store.put("", "pods", pod);
  const tokens = new ServiceAccountTokens({ clock, random: systemRandom, reader: store });
  const authorizer = new RbacAuthorizer({ reader: store, storage: store });
  const staticTokens = new Map([["s3cret", { username: "carol", groups: ["ops"] }]]);
  const authenticate = createAuthenticator({ serviceAccountTokens: tokens, authorizer, staticTokens });
  const as = (token: string, headers: Readonly<Record<string, string>> = {}) =>
    authenticate({ headers: { authorization: `Bearer ${token}`, ...headers } });
  return { clock, store, tokens, authenticate, as };
}

const issue = { namespace: "shop", name: "x", uid: "u1", expirationSeconds: 600 };

test("a certificate's common name is the user, its organizations are the groups", () => {
  const { authenticate } = world();
  const certificate = { commonName: "admin", organizations: ["system:masters"] };
  expect(authenticate({ headers: {}, certificate })).toEqual({
    username: "admin",
    groups: ["system:masters", "system:authenticated"],
  });
});

test("without credentials one is anonymous, with bad ones nobody", () => {
  const { authenticate, as } = world();
  expect(authenticate({ headers: {} })).toEqual({ username: "system:anonymous", groups: ["system:unauthenticated"] });
  expect(() => as("nonsense")).toThrow("Unauthorized");
  expect(() => authenticate({ headers: {}, certificate: "unknown" })).toThrow("Unauthorized");
});

test("a static token has its user and the group of all users", () => {
  expect(world().as("s3cret")).toEqual({ username: "carol", groups: ["ops", "system:authenticated"] });
});

test("a service account's token names it until it expires", async () => {
  const { tokens, as, clock } = world();
  const { token } = tokens.issue(issue);
  expect(as(token)).toMatchObject({
    username: "system:serviceaccount:shop:x",
    uid: "u1",
    groups: ["system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"],
  });
  await clock.run(11 * minuteMs);
  expect(() => as(token)).toThrow("Unauthorized");
});

test("a token is invalid once its service account is deleted or recreated", () => {
  const { tokens, as, store } = world();
  const { token } = tokens.issue(issue);
  store.put("", "serviceaccounts", { ...account, metadata: { ...account.metadata, uid: "u2" } });
  expect(() => as(token)).toThrow("Unauthorized");
  store.delete("", "serviceaccounts", "shop/x");
  expect(() => as(token)).toThrow("Unauthorized");
});

test("a token bound to a pod ends with the pod", () => {
  const { tokens, as, store } = world();
  const { token } = tokens.issue({ ...issue, bound: { kind: "Pod", name: "web", uid: "p1" } });
  expect(as(token).extra?.["authentication.kubernetes.io/pod-name"]).toEqual(["web"]);
  store.delete("", "pods", "shop/web");
  expect(() => as(token)).toThrow("Unauthorized");
});

test("a token changed by one byte, or signed by another key, is refused", () => {
  const { tokens, as, clock, store } = world();
  const { token } = tokens.issue(issue);
  const [header, , signature] = token.split(".");
  const forged = Buffer.from(JSON.stringify({ sub: "system:serviceaccount:kube-system:root" })).toString("base64url");
  expect(() => as(`${header}.${forged}.${signature}`)).toThrow("Unauthorized");
  const others = new ServiceAccountTokens({ clock, random: systemRandom, reader: store });
  expect(() => as(others.issue(issue).token)).toThrow("Unauthorized");
});

test("a token for another audience is refused here and accepted there", () => {
  const { tokens, as } = world();
  const { token } = tokens.issue({ ...issue, audiences: ["vault"] });
  expect(() => as(token)).toThrow("Unauthorized");
  expect(tokens.authenticate(token, ["vault", "other"])?.audiences).toEqual(["vault"]);
});

test("impersonation needs the verb impersonate, and gives the other user's name and groups", () => {
  const { authenticate, as } = world();
  const headers = { "impersonate-user": "bob", "impersonate-group": "dev, qa" };
  const certificate = { commonName: "admin", organizations: ["system:masters"] };
  expect(authenticate({ headers, certificate })).toEqual({
    username: "bob",
    groups: ["dev", "qa", "system:authenticated"],
  });
  expect(() => as("s3cret", headers)).toThrow(
    'users "bob" is forbidden: User "carol" cannot impersonate resource "users" in API group "" at the cluster scope',
  );
});

test("impersonating a group alone is a bad request", () => {
  const certificate = { commonName: "admin", organizations: ["system:masters"] };
  const { authenticate } = world();
  expect(() => authenticate({ headers: { "impersonate-group": "a" }, certificate })).toThrow(
    "without impersonating a user name",
  );
});
