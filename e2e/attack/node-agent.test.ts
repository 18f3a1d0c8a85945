/**
 * An attacker with the credentials of one node: it may do what concerns the pods of that node, and nothing
 * beyond.
 */
import type { ControlPlane } from "@setpoint/controlplane";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adminUser, type Ask, arranging, asking, nodeUser, startPlane } from "./authorization.ts";

const core = "/api/v1/namespaces/default";
let plane: ControlPlane;
let arrange: Ask;
let node: Ask;
let uids: { readonly own: string; readonly other: string };

function pod(name: string, nodeName: string, secretName: string): object {
  return {
    metadata: { name, labels: { app: name } },
    spec: {
      nodeName,
      serviceAccountName: name,
      containers: [{ name: "c", image: "i", envFrom: [{ configMapRef: { name: secretName } }] }],
      volumes: [
        { name: "s", secret: { secretName } },
        { name: "d", persistentVolumeClaim: { claimName: `claim-${name}` } },
      ],
    },
  };
}

function claim(name: string): object {
  const resources = { requests: { storage: "1Gi" } };
  return { metadata: { name }, spec: { accessModes: ["ReadWriteOnce"], storageClassName: "folder", resources } };
}

function volume(name: string, nodeName: string, claimName: string): object {
  const matchExpressions = [{ key: "kubernetes.io/hostname", operator: "In", values: [nodeName] }];
  return {
    metadata: { name, annotations: { "setpoint.dev/node": nodeName } },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      claimRef: { namespace: "default", name: claimName },
      hostPath: { path: "/srv/volume" },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
    },
  };
}

beforeAll(async () => {
  plane = await startPlane();
  arrange = arranging(plane);
  node = asking(plane, nodeUser("mine"));
  for (const name of ["mine", "other"]) {
    await asking(plane, nodeUser(name))("POST", "/api/v1/nodes", { metadata: { name } });
    await arrange("POST", `${core}/serviceaccounts`, { metadata: { name } });
    await arrange("POST", `${core}/secrets`, { metadata: { name: `secret-${name}` }, stringData: { key: name } });
    await arrange("POST", `${core}/configmaps`, { metadata: { name: `secret-${name}` }, data: { key: name } });
    await arrange("POST", `${core}/persistentvolumeclaims`, claim(`claim-${name}`));
    await arrange("POST", `${core}/pods`, pod(name, name, `secret-${name}`));
    await arrange("POST", "/api/v1/persistentvolumes", volume(`volume-${name}`, name, `claim-${name}`));
  }
  const uidOf = async (name: string): Promise<string> => {
    const { object } = await arrange("GET", `${core}/pods/${name}`);
    return (object as { readonly metadata: { readonly uid: string } }).metadata.uid;
  };
  uids = { own: await uidOf("mine"), other: await uidOf("other") };
});

afterAll(() => plane[Symbol.asyncDispose]());

const podOf = (nodeName: string): { query: Record<string, string> } => ({
  query: { fieldSelector: `spec.nodeName=${nodeName}` },
});
const notRelated = "no relationship found between node 'mine' and this object";

test("a node reads what its own pods name", async () => {
  for (const kind of ["secrets", "configmaps"])
    expect((await node("GET", `${core}/${kind}/secret-mine`)).code).toBe(200);
  expect((await node("GET", `${core}/persistentvolumeclaims/claim-mine`)).code).toBe(200);
  expect((await node("GET", "/api/v1/pods", undefined, podOf("mine"))).code).toBe(200);
  expect((await node("GET", `${core}/pods/mine`)).code).toBe(200);
  expect((await node("GET", "/api/v1/nodes/mine")).code).toBe(200);
  const byName = { query: { fieldSelector: "metadata.name=secret-mine" } };
  expect((await node("GET", `${core}/secrets`, undefined, byName)).code).toBe(200);
});

test.each([
  ["GET", `${core}/secrets/secret-other`, notRelated],
  ["GET", `${core}/configmaps/secret-other`, notRelated],
  ["GET", `${core}/persistentvolumeclaims/claim-other`, notRelated],
  ["GET", `${core}/pods/other`, notRelated],
  ["GET", `${core}/secrets`, "No Object name found"],
  ["GET", "/api/v1/secrets", "can only read namespaced object of this type"],
  ["GET", `${core}/persistentvolumeclaims`, "can only get individual resources of this type"],
  ["GET", "/api/v1/pods", "can only list/watch pods with spec.nodeName field selector"],
  ["GET", "/api/v1/nodes", "node 'mine' cannot read all nodes, only its own Node object"],
  ["GET", "/api/v1/nodes/other", "node 'mine' cannot read 'other', only its own Node object"],
  ["DELETE", `${core}/secrets/secret-mine`, "can only read resources of this type"],
  ["GET", `${core}/secrets/secret-mine/anything`, "cannot read subresource"],
  ["DELETE", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/other", "can only access node lease"],
  ["GET", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/mine", "can only access leases in the"],
  ["GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles", "cannot list resource"],
  ["DELETE", "/api/v1/nodes/mine", "cannot delete resource"],
] as const)("a node may not %s %s", async (method, path, why) => {
  const answer = await node(method, path);
  expect(answer.code).toBe(403);
  expect(answer.message).toContain(why);
});

test("a selector that names the own node beside another one shows nothing of the other", async () => {
  const both = { query: { fieldSelector: "spec.nodeName=mine,spec.nodeName=other" } };
  const { object } = await node("GET", "/api/v1/pods", undefined, both);
  expect(object["items"]).toEqual([]);
  expect((await node("GET", "/api/v1/pods", undefined, podOf("other"))).code).toBe(403);
});

const owner = { apiVersion: "v1", kind: "Node", name: "mine", uid: "x", controller: true };
const onNode = { nodeName: "mine", containers: [{ name: "c", image: "i" }] };
const mirror = { "kubernetes.io/config.mirror": "x" };

test.each([
  [
    "POST",
    `${core}/pods`,
    { metadata: { name: "p" }, spec: { ...onNode, serviceAccountName: "mine" } },
    "can only create mirror pods",
  ],
  [
    "POST",
    `${core}/pods`,
    {
      metadata: { name: "p", annotations: mirror },
      spec: { nodeName: "other", containers: [{ name: "c", image: "i" }] },
    },
    'node "mine" can only create pods with spec.nodeName set to itself',
  ],
  [
    "POST",
    `${core}/pods`,
    {
      metadata: { name: "p", annotations: mirror, ownerReferences: [owner] },
      spec: onNode,
    },
    "node mine UID mismatch: expected x got",
  ],
  ["DELETE", `${core}/pods/other`, undefined, 'node "mine" can only delete pods with spec.nodeName set to itself'],
  [
    "PATCH",
    `${core}/pods/other/status`,
    { status: { phase: "Failed" } },
    'node "mine" can only update pod status for pods with spec.nodeName set to itself',
  ],
  [
    "PATCH",
    `${core}/pods/mine/status`,
    { metadata: { labels: { app: "database" } } },
    'node "mine" cannot update labels through pod status',
  ],
  [
    "POST",
    `${core}/pods/other/eviction`,
    { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "other" } },
    "node mine can only evict pods with spec.nodeName set to itself",
  ],
  ["PATCH", "/api/v1/nodes/other", { metadata: { labels: { a: "b" } } }, 'is not allowed to modify node "other"'],
  ["PATCH", "/api/v1/nodes/other/status", { status: {} }, 'is not allowed to modify node "other"'],
  ["PATCH", "/api/v1/nodes/mine", { spec: { taints: null } }, 'node "mine" is not allowed to modify taints'],
  [
    "PATCH",
    "/api/v1/nodes/mine",
    { metadata: { labels: { "node-restriction.kubernetes.io/trusted": "yes" } } },
    "is not allowed to modify labels: node-restriction.kubernetes.io/trusted",
  ],
  [
    "PATCH",
    "/api/v1/nodes/mine",
    { metadata: { labels: { "node-role.kubernetes.io/control-plane": "" } } },
    "is not allowed to modify labels: node-role.kubernetes.io/control-plane",
  ],
  [
    "PATCH",
    "/api/v1/nodes/mine",
    { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "gone", uid: "gone" }] } },
    'node "mine" is not allowed to modify ownerReferences',
  ],
  [
    "POST",
    "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
    { metadata: { name: "other" }, spec: { holderIdentity: "mine" } },
    "can only access node lease with the same name as the requesting node",
  ],
  [
    "POST",
    "/api/v1/persistentvolumes",
    volume("stolen", "other", "claim-other"),
    'node "mine" can only write volumes that are bound to itself',
  ],
  [
    "POST",
    "/api/v1/persistentvolumes",
    volume("stolen", "mine", "claim-other"),
    'node "mine" can only make volumes for claims of its pods',
  ],
  ["DELETE", "/api/v1/persistentvolumes/volume-other", undefined, "can only write volumes that are bound to itself"],
  [
    "PATCH",
    `${core}/persistentvolumeclaims/claim-mine`,
    { spec: { volumeName: "volume-other" } },
    'node "mine" can only bind claims to volumes of its own',
  ],
  [
    "PATCH",
    `${core}/persistentvolumeclaims/claim-mine`,
    { metadata: { labels: { app: "database" } } },
    "is not allowed to update fields other than the volume of a claim",
  ],
] as const)("a node may not %s %s beyond what is its own (%#)", async (method, path, body, why) => {
  const answer = await node(method, path, body);
  expect([answer.code, answer.message]).toEqual([403, expect.stringContaining(why)]);
});

test("a node gets tokens for its own pods, bound to them, and no other ones", async () => {
  const bound = (name: string, uid: string): object => ({
    spec: { boundObjectRef: { kind: "Pod", apiVersion: "v1", name, uid } },
  });
  const token = (account: string, body: object) => node("POST", `${core}/serviceaccounts/${account}/token`, body);
  expect((await token("mine", bound("mine", uids.own))).code).toBe(201);
  expect(await token("other", bound("other", uids.other))).toMatchObject({
    code: 403,
    message: expect.stringContaining(notRelated),
  });
  expect(await token("mine", {})).toMatchObject({ code: 403, message: expect.stringContaining("not bound to a pod") });
  expect((await token("mine", bound("other", uids.other))).code).toBe(400);
});

test("a node binds the claims of its pods and reports their state", async () => {
  expect((await node("PATCH", `${core}/pods/mine/status`, { status: { phase: "Running" } })).code).toBe(200);
  const path = `${core}/persistentvolumeclaims/claim-mine`;
  const annotations = { "pv.kubernetes.io/bind-completed": "yes" };
  const bind = { metadata: { annotations }, spec: { volumeName: "volume-mine" } };
  expect(await node("PATCH", path, bind)).toMatchObject({ code: 200 });
  const status = { phase: "Bound", accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" } };
  expect(await node("PATCH", `${path}/status`, { status })).toMatchObject({ code: 200 });
  expect((await node("GET", "/api/v1/persistentvolumes/volume-mine")).code).toBe(200);
  expect(
    (await node("PATCH", "/api/v1/persistentvolumes/volume-mine/status", { status: { phase: "Bound" } })).code,
  ).toBe(200);
});

test("a user of the nodes' group without a node's name may do nothing with nodes", async () => {
  const nobody = asking(plane, { ...adminUser, username: "bob", groups: ["system:nodes", "system:authenticated"] });
  const answer = await nobody("GET", "/api/v1/nodes/mine");
  expect([answer.code, answer.message]).toEqual([403, expect.stringContaining('unknown node for user "bob"')]);
});

test("a volume that a node made for a claim of its pods never becomes one for another claim, which the node could then read", async () => {
  const made = { ...volume("made", "mine", "claim-mine") };
  expect((await node("POST", "/api/v1/persistentvolumes", made)).code).toBe(201);
  const claimRef = { namespace: "default", name: "claim-other" };
  expect((await node("PATCH", "/api/v1/persistentvolumes/made", { spec: { claimRef } })).code).toBe(403);
  expect((await node("GET", `${core}/persistentvolumeclaims/claim-other`)).code).toBe(403);
});
