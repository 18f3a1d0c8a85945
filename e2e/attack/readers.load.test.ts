/** A service account that may only read writes nothing, however it asks. */
import type { ControlPlane } from "@setpoint/controlplane";
import { afterAll, beforeAll, expect, test } from "vitest";
import { accountUser, type Ask, arranging, asking, startPlane } from "./authorization.ts";

const rbac = "/apis/rbac.authorization.k8s.io/v1";
const apiGroup = "rbac.authorization.k8s.io";
const core = "/api/v1/namespaces/default";
let plane: ControlPlane;
let arrange: Ask;

beforeAll(async () => {
  plane = await startPlane();
  arrange = arranging(plane);
  await arrange("POST", `${core}/serviceaccounts`, { metadata: { name: "strong" } });
  const containers = [{ name: "c", image: "i" }];
  const spec = { serviceAccountName: "strong", containers };
  await arrange("POST", `${core}/pods`, { metadata: { name: "victim" }, spec });
});

afterAll(() => plane[Symbol.asyncDispose]());

async function accountWith(name: string, rule: object): Promise<Ask> {
  await arrange("POST", `${rbac}/clusterroles`, { metadata: { name }, rules: [rule] });
  const subjects = [{ kind: "ServiceAccount", namespace: "default", name }];
  const roleRef = { apiGroup, kind: "ClusterRole", name };
  await arrange("POST", `${rbac}/clusterrolebindings`, { metadata: { name }, roleRef, subjects });
  return asking(plane, accountUser("default", name));
}

test("who may read everything does nothing else by the old path of watches", async () => {
  const reader = await accountWith("reader", { apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch"] });
  const victim = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "victim" } };
  const target = { apiVersion: "v1", kind: "Node", name: "anywhere" };
  const resourceAttributes = { verb: "get", resource: "secrets" };
  const watched = "/api/v1/watch/namespaces/default";
  for (const [path, body] of [
    [`${watched}/serviceaccounts/strong/token`, { spec: {} }],
    [`${watched}/pods/victim/binding`, { metadata: { name: "victim" }, target }],
    [`${watched}/pods/victim/eviction`, victim],
    ["/apis/authentication.k8s.io/v1/watch/tokenreviews", { spec: { token: "t" } }],
    ["/apis/authorization.k8s.io/v1/watch/subjectaccessreviews", { spec: { user: "u", resourceAttributes } }],
  ] as const) {
    const { code, object } = await reader("POST", path, body);
    expect([path, code, object["status"]]).toEqual([path, 403, "Failure"]);
  }
  expect((await arrange("GET", `${core}/pods/victim`)).object["spec"]).not.toHaveProperty("nodeName");
});

test("the old path of watches reads no logs", async () => {
  const watcher = await accountWith("watcher", { apiGroups: [""], resources: ["pods/log"], verbs: ["watch"] });
  expect((await watcher("GET", "/api/v1/watch/namespaces/default/pods/victim/log")).code).toBe(405);
});
