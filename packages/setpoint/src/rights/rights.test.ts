import { ClusterRole, ClusterRoleBinding, ConfigMap, Role, RoleBinding } from "@setpoint/api";
import type { Transport, UserInfo } from "@setpoint/apimachinery";
import { createClient, RecordedUse, useRecordingTransport, type Client } from "@setpoint/client";
import { startControlPlane } from "@setpoint/controlplane";
import { silentLogger, type Host } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findMissingRights, missingRightSentence } from "./check-rights.ts";
import { missingRights, onlyUsedRights, rulesOfUse, unusedRights, withUsedRights } from "./right.ts";

const host: Host = { ...systemHost(), log: silentLogger };
const plane = await startControlPlane({ host, controllers: false });
afterAll(() => plane[Symbol.asyncDispose]());
const admin = createClient(plane.transport, host);

const account: UserInfo = { username: "system:serviceaccount:sweets:candy", groups: ["system:authenticated"] };
const roleRef = (kind: string): { apiGroup: string; kind: string; name: string } => ({
  apiGroup: "rbac.authorization.k8s.io",
  kind,
  name: "candy",
});
const subjects = [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: account.username }];

const candies = { apiGroups: ["examples.setpoint.dev"], resources: ["candies"], verbs: ["get", "list", "watch"] };
const configMaps = { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "create", "delete"] };
const lease = {
  apiGroups: ["coordination.k8s.io"],
  resources: ["leases"],
  resourceNames: ["candy"],
  verbs: ["update"],
};

beforeAll(async () => {
  await admin.create(ClusterRole, ClusterRole({ name: "candy", rules: [candies, { ...configMaps, verbs: ["get"] }] }));
  await admin.create(
    ClusterRoleBinding,
    ClusterRoleBinding({ name: "candy", roleRef: roleRef("ClusterRole"), subjects }),
  );
  await admin.create(
    Role,
    Role({ name: "candy", namespace: "default", rules: [{ ...configMaps, verbs: ["create"] }, lease] }),
  );
  await admin.create(
    RoleBinding,
    RoleBinding({ name: "candy", namespace: "default", roleRef: roleRef("Role"), subjects }),
  );
});

/** The account's client; `change` stands between it and the server. */
function clientOf(change: (inner: Transport) => Transport = (inner) => inner): Client {
  return createClient(change(plane.transportAs(account)), host);
}

/** A server that does not list what an account may do. */
const withoutRulesReview = (inner: Transport): Transport => ({
  send: (request, signal) =>
    request.path.endsWith("selfsubjectrulesreviews")
      ? Promise.resolve({ kind: "object", status: 404, headers: {}, object: { kind: "Status", code: 404 } })
      : inner.send(request, signal),
});

test.each([
  ["in one question", clientOf()],
  ["one by one, where the server knows no other way", clientOf(withoutRulesReview)],
])("the rights that an account lacks are found %s", async (_, client) => {
  const rules = [candies, configMaps, lease];
  const missing = await findMissingRights(client, [{ rules }, { rules, namespace: "default" }]);
  expect(missing.map(({ verb, resource, namespace = "*" }) => `${verb} ${resource} ${namespace}`)).toEqual([
    // What a Role of one namespace gives does not hold in all.
    "create configmaps *",
    "delete configmaps *",
    "update leases *",
    "delete configmaps default",
  ]);
});

test("each missing right is one sentence with the fix", () => {
  expect(missingRightSentence({ verb: "patch", group: "apps", resource: "deployments/scale" })).toBe(
    'Cannot patch deployments/scale.apps in every namespace: the account has no such right, expected a ClusterRole with verb "patch" of resource "deployments/scale" in apiGroup "apps"',
  );
  expect(missingRightSentence({ verb: "get", group: "", resource: "pods", name: "a", namespace: "b" })).toMatch(
    /^Cannot get pods "a" in namespace "b": /,
  );
});

test("wildcards and subresources are understood as Kubernetes does", () => {
  const wanted = [{ apiGroups: ["apps"], resources: ["deployments/scale", "deployments"], verbs: ["patch"] }];
  const names = (granted: Parameters<typeof missingRights>[1]): readonly string[] =>
    missingRights(wanted, granted).map(({ resource }) => resource);
  expect(names([{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }])).toEqual([]);
  expect(names([{ apiGroups: ["apps"], resources: ["*/scale"], verbs: ["patch"] }])).toEqual(["deployments"]);
  expect(names([{ apiGroups: ["apps"], resources: ["deployments"], verbs: ["*"] }])).toEqual(["deployments/scale"]);
  expect(names([{ apiGroups: [""], resources: ["*"], verbs: ["*"] }])).toEqual(["deployments/scale", "deployments"]);
  expect(names([{ apiGroups: ["apps"], resources: ["*"], resourceNames: ["web"], verbs: ["*"] }])).toHaveLength(2);
});

test("rules can be derived from what was really used, without a wildcard", async () => {
  const use = new RecordedUse();
  const client = clientOf((inner) => useRecordingTransport(inner, use));
  await client.get(ConfigMap, { name: "kube-root-ca.crt", namespace: "default" }).catch(() => {});
  await client.create(ConfigMap, ConfigMap({ name: "used", namespace: "default" }));
  await client.list(ConfigMap).catch(() => {});
  expect(use.rights).toEqual([
    { verb: "create", group: "", resource: "configmaps", namespaces: ["default"], count: 1 },
    { verb: "get", group: "", resource: "configmaps", namespaces: ["default"], count: 1 },
  ]);
  expect(rulesOfUse(use.rights)).toEqual([{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "create"] }]);
  expect(unusedRights([candies, configMaps], use.rights).map(({ verb, resource }) => `${verb} ${resource}`)).toEqual([
    "get candies",
    "list candies",
    "watch candies",
    "delete configmaps",
  ]);
  expect(withUsedRights([candies], use.rights)).toEqual([
    candies,
    { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "create"] },
  ]);
  expect(onlyUsedRights([candies, configMaps], use.rights)).toEqual([{ ...configMaps, verbs: ["get", "create"] }]);
});
