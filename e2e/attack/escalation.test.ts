/** A service account that may write roles, and tries to become cluster-admin. */
import type { ControlPlane } from "@setpoint/controlplane";
import { afterAll, beforeAll, expect, test } from "vitest";
import { accountUser, type Ask, arranging, asking, startPlane } from "./authorization.ts";

const group = "rbac.authorization.k8s.io";
const rbac = `/apis/${group}/v1`;
let plane: ControlPlane;
let account: Ask;
let arrange: Ask;

const user = accountUser("default", "writer");
const subjects = [{ kind: "ServiceAccount", namespace: "default", name: "writer" }];

function roleRef(name: string): object {
  return { apiGroup: group, kind: "ClusterRole", name };
}

beforeAll(async () => {
  plane = await startPlane();
  arrange = arranging(plane);
  account = asking(plane, user);
  const verbs = ["get", "list", "create", "update", "patch", "delete", "deletecollection"];
  const resources = ["roles", "clusterroles", "rolebindings", "clusterrolebindings"];
  const rules = [
    { apiGroups: [group], resources, verbs },
    { apiGroups: [""], resources: ["configmaps"], verbs: ["get"] },
    { apiGroups: ["apiextensions.k8s.io"], resources: ["customresourcedefinitions"], verbs },
  ];
  await arrange("POST", `${rbac}/clusterroles`, { metadata: { name: "writer" }, rules });
  const metadata = { name: "writer" };
  await arrange("POST", `${rbac}/clusterrolebindings`, { metadata, roleRef: roleRef("writer"), subjects });
  await arrange("POST", `${rbac}/clusterrolebindings`, {
    metadata: { name: "view" },
    roleRef: roleRef("view"),
    subjects,
  });
});

afterAll(() => plane[Symbol.asyncDispose]());

/** Whether the account may do everything. */
async function isAdmin(): Promise<unknown> {
  const spec = { resourceAttributes: { verb: "*", group: "*", resource: "*" } };
  const { object } = await account("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", { spec });
  return (object as { readonly status: { readonly allowed: boolean } }).status.allowed;
}

const everything = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }];
const labels = { "rbac.authorization.k8s.io/aggregate-to-view": "true" };
const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { "kubernetes.io/bootstrapping": "rbac-defaults" } }] };
const apply = {
  headers: { "content-type": "application/apply-patch+yaml" },
  query: { fieldManager: "w", force: "true" },
};
const jsonPatch = { headers: { "content-type": "application/json-patch+json" } };
const whole = (more: object, name = "view"): object => ({
  apiVersion: `${group}/v1`,
  kind: "ClusterRole",
  metadata: { name },
  ...more,
});

test.each([
  [
    "a label that puts cluster-admin into its role",
    "PATCH",
    "clusterroles/cluster-admin",
    { metadata: { labels } },
    {},
  ],
  [
    "a label by apply",
    "PATCH",
    "clusterroles/cluster-admin",
    { ...whole({}), metadata: { name: "cluster-admin", labels } },
    apply,
  ],
  [
    "a label by JSON patch",
    "PATCH",
    "clusterroles/cluster-admin",
    [{ op: "add", path: "/metadata/labels", value: labels }],
    jsonPatch,
  ],
  ["a new role with an aggregation rule", "POST", "clusterroles", whole({ aggregationRule }, "collector"), {}],
  [
    "an aggregation rule that selects everything",
    "PATCH",
    "clusterroles/writer",
    { aggregationRule: { clusterRoleSelectors: [{}] } },
    {},
  ],
  ["a wider aggregation rule of view", "PATCH", "clusterroles/view", { aggregationRule }, {}],
  ["view without its aggregation rule", "PATCH", "clusterroles/view", { aggregationRule: null, rules: everything }, {}],
  ["a role with all rights", "POST", "clusterroles", whole({ rules: everything }, "all"), {}],
  ["all rights for its own role", "PATCH", "clusterroles/writer", { rules: everything }, {}],
  ["all rights by PUT of a new name", "PUT", "clusterroles/new", whole({ rules: everything }, "new"), {}],
  [
    "a binding to cluster-admin",
    "POST",
    "clusterrolebindings",
    { metadata: { name: "b" }, roleRef: roleRef("cluster-admin"), subjects },
    {},
  ],
  [
    "a binding to admin in a namespace",
    "POST",
    "namespaces/default/rolebindings",
    { metadata: { name: "b" }, roleRef: roleRef("admin"), subjects },
    {},
  ],
  ["itself among the subjects of cluster-admin", "PATCH", "clusterrolebindings/cluster-admin", { subjects }, {}],
] as const)("an account that may write roles is refused %s", async (_, method, path, body, more) => {
  expect((await account(method, `${rbac}/${path}`, body as object, more)).code).toBe(403);
  expect(await isAdmin()).toBe(false);
});

test("replacing a role under a binding of others gives only what the account holds", async () => {
  expect((await account("DELETE", `${rbac}/clusterroles/view`)).code).toBe(200);
  expect((await account("POST", `${rbac}/clusterroles`, whole({ rules: everything }))).code).toBe(403);
  const held = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }];
  expect((await account("POST", `${rbac}/clusterroles`, whole({ rules: held }))).code).toBe(201);
  expect(await isAdmin()).toBe(false);
});

test("no header and no token request makes the account another user", async () => {
  const tokens = "/api/v1/namespaces/kube-system/serviceaccounts/default/token";
  expect((await account("POST", tokens, {})).code).toBe(403);
  const review = { spec: { resourceAttributes: { verb: "impersonate", resource: "users", name: "admin" } } };
  const { object } = await account("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review);
  expect(object).toMatchObject({ status: { allowed: false } });
});

const many = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `a${i}`);

test.each([
  ["as many parts as a product of three lists", [{ verbs: many(200), apiGroups: many(200), resources: many(200) }]],
  ["many verbs", [{ verbs: many(50_000), apiGroups: [""], resources: ["configmaps"] }]],
  ["many names", [{ verbs: ["get", "list"], apiGroups: [""], resources: ["secrets"], resourceNames: many(50_000) }]],
])("a role of %s is refused at once", async (_, rules) => {
  const startMs = performance.now();
  const role = { metadata: { name: "large" }, rules };
  expect((await account("POST", `${rbac}/namespaces/default/roles`, role)).code).toBe(403);
  expect(performance.now() - startMs).toBeLessThan(5_000);
});

test("many names of what the account holds are granted", async () => {
  const rules = [{ verbs: ["get"], apiGroups: [""], resources: ["configmaps"], resourceNames: many(50_000) }];
  const role = { metadata: { name: "names" }, rules };
  expect((await account("POST", `${rbac}/namespaces/default/roles`, role)).code).toBe(201);
});
