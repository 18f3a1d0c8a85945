import type { UnstructuredObject, UserInfo } from "@setpoint/apimachinery";
import { systemClock, systemRandom } from "@setpoint/host/system";
import { expect, test } from "vitest";
import type { AdmissionRequest } from "../registry/admission-plugin.ts";
import type { ObjectReader } from "../registry/object-reader.ts";
import type { RequestAttributes } from "../request/request-attributes.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import { forbidden, forbiddenMessage } from "./forbidden-message.ts";
import { RbacAuthorizer } from "./rbac-authorizer.ts";
import { createRbacEscalationPlugin } from "./rbac-escalation.ts";
import { FakeStore } from "./fake-store.fixture.ts";

const bob: UserInfo = { username: "bob", groups: ["dev", "system:authenticated"] };
const rbac = "rbac.authorization.k8s.io/v1";

const listPods: RequestAttributes = {
  user: bob,
  verb: "list",
  isResourceRequest: true,
  path: "/api/v1/pods",
  group: "",
  version: "v1",
  resource: "pods",
  subresource: "",
  namespace: "",
  name: "",
};
const inShop = { ...listPods, namespace: "shop" };

const podReader = {
  apiVersion: rbac,
  kind: "ClusterRole",
  metadata: { name: "pod-reader", labels: { "for-edit": "true" } },
  rules: [{ apiGroups: [""], resources: ["pods", "pods/log"], verbs: ["get", "list"] }],
};
const bindDev = {
  apiVersion: rbac,
  kind: "RoleBinding",
  metadata: { name: "dev", namespace: "shop" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "pod-reader" },
  subjects: [{ kind: "Group", name: "dev" }],
};

test("a binding grants in its namespace only, from the moment it is written until it is deleted", () => {
  const store = new FakeStore();
  using authorizer = new RbacAuthorizer({ reader: store, storage: store });
  expect(authorizer.authorize(inShop).allowed).toBe(false);
  store.put("rbac.authorization.k8s.io", "clusterroles", podReader);
  store.put("rbac.authorization.k8s.io", "rolebindings", bindDev);
  expect(authorizer.authorize(inShop).allowed).toBe(true);
  expect(authorizer.authorize({ ...inShop, subresource: "log", verb: "get" }).allowed).toBe(true);
  expect(authorizer.authorize({ ...inShop, verb: "delete" }).allowed).toBe(false);
  expect(authorizer.authorize(listPods).allowed).toBe(false);
  store.delete("rbac.authorization.k8s.io", "rolebindings", "shop/dev");
  expect(authorizer.authorize(inShop).allowed).toBe(false);
});

test("an allowed request says by which binding, of which role, to whom, in upstream's words", () => {
  const store = new FakeStore();
  using authorizer = new RbacAuthorizer({ reader: store, storage: store });
  store.put("rbac.authorization.k8s.io", "clusterroles", podReader);
  store.put("rbac.authorization.k8s.io", "rolebindings", bindDev);
  expect(authorizer.authorize(inShop).reason).toBe(
    'RBAC: allowed by RoleBinding "dev/shop" of ClusterRole "pod-reader" to Group "dev"',
  );
  const account = { ...bob, username: "system:serviceaccount:shop:web", groups: [] };
  const binding = { ...bindDev, kind: "ClusterRoleBinding", metadata: { name: "all" } };
  const subjects = [{ kind: "ServiceAccount", name: "web", namespace: "shop" }];
  store.put("rbac.authorization.k8s.io", "clusterrolebindings", { ...binding, subjects });
  expect(authorizer.authorize({ ...listPods, user: account }).reason).toBe(
    'RBAC: allowed by ClusterRoleBinding "all" of ClusterRole "pod-reader" to ServiceAccount "web/shop"',
  );
});

test("an aggregated cluster role has the rules of the roles that its selectors pick", () => {
  const store = new FakeStore();
  using authorizer = new RbacAuthorizer({ reader: store, storage: store });
  const selector = { matchLabels: { "for-edit": "true" } };
  const aggregationRule = { clusterRoleSelectors: [selector] };
  const edit = { apiVersion: rbac, kind: "ClusterRole", metadata: { name: "edit" }, aggregationRule, rules: null };
  store.put("rbac.authorization.k8s.io", "clusterroles", edit);
  store.put("rbac.authorization.k8s.io", "rolebindings", {
    ...bindDev,
    roleRef: { ...bindDev.roleRef, name: "edit" },
  });
  expect(authorizer.authorize(inShop).allowed).toBe(false);
  store.put("rbac.authorization.k8s.io", "clusterroles", podReader);
  expect(authorizer.authorize(inShop).allowed).toBe(true);
});

test("a bound role that does not exist is named in the refusal", () => {
  const store = new FakeStore();
  using authorizer = new RbacAuthorizer({ reader: store, storage: store });
  store.put("rbac.authorization.k8s.io", "rolebindings", bindDev);
  const decision = authorizer.authorize(inShop);
  expect(forbidden(inShop, decision.reason).message).toBe(
    'pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "shop": ' +
      'RBAC: clusterrole.rbac.authorization.k8s.io "pod-reader" not found',
  );
});

test.each([
  [listPods, 'User "bob" cannot list resource "pods" in API group "" at the cluster scope'],
  [
    { ...inShop, subresource: "log", verb: "get", name: "a<b" },
    'User "bob" cannot get resource "pods/log" in API group "" in the namespace "shop"',
  ],
  [{ ...listPods, isResourceRequest: false, verb: "get", path: "/a&b" }, 'User "bob" cannot get path "/a&amp;b"'],
])("a refusal says who may not do what where (%#)", (attributes, text) => {
  expect(forbiddenMessage(attributes)).toBe(text);
});

test("members of system:masters may do everything", () => {
  const store = new FakeStore();
  using authorizer = new RbacAuthorizer({ reader: store, storage: store });
  expect(authorizer.authorize({ ...listPods, user: { username: "x", groups: ["system:masters"] } }).allowed).toBe(true);
});

function admission(reader: ObjectReader, resource: string, object: UnstructuredObject): AdmissionRequest {
  return {
    operation: "CREATE",
    definition: { group: "rbac.authorization.k8s.io", resource } as ResourceDefinition,
    subresource: "",
    namespace: object.metadata.namespace ?? "",
    name: object.metadata.name ?? "",
    object,
    old: undefined,
    user: bob,
    dryRun: false,
    reader,
    clock: systemClock,
    random: systemRandom,
    warn: () => undefined,
    pass: { isRepeated: false, isNeededAgain: false },
  };
}

test("a role with rights that its author lacks is refused, naming them; held rights may be handed on", async () => {
  const store = new FakeStore();
  using authorizer = new RbacAuthorizer({ reader: store, storage: store });
  store.put("rbac.authorization.k8s.io", "clusterroles", podReader);
  store.put("rbac.authorization.k8s.io", "rolebindings", bindDev);
  const plugin = createRbacEscalationPlugin(authorizer);
  const role = (rules: readonly unknown[]): UnstructuredObject => {
    return { apiVersion: rbac, kind: "Role", metadata: { name: "r", namespace: "shop" }, rules };
  };
  const held = role([{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }]);
  await plugin.validate?.(admission(store, "roles", held));
  const more = role([{ apiGroups: ["apps"], resources: ["deployments"], verbs: ["get", "create"] }]);
  await expect(plugin.validate?.(admission(store, "roles", more))).rejects.toThrow(
    'roles.rbac.authorization.k8s.io "r" is forbidden: user "bob" (groups=["dev" "system:authenticated"]) is attempting to ' +
      'grant RBAC permissions not currently held:\n{APIGroups:["apps"], Resources:["deployments"], Verbs:["get" "create"]}',
  );
  await plugin.validate?.(admission(store, "rolebindings", bindDev));
});
