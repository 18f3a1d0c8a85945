/** What the roles that a cluster has for people allow after an operator was installed. */
import { ClusterRole, RoleBinding, SubjectAccessReview } from "@setpoint/api";
import { startControlPlane } from "@setpoint/controlplane";
import { createClient } from "@setpoint/client";
import { systemHost } from "@setpoint/host/system";
import { controller, defineKind, defineOperator } from "setpoint";
import { installManifests } from "setpoint/install";
import { expect, test } from "vitest";
import { z } from "zod";

const host = systemHost({ write: () => {} });
const group = "examples.setpoint.dev";
const Box = defineKind({
  ...{ group, version: "v1", kind: "Box" },
  spec: z.object({ replicas: z.int().default(1) }),
  status: z.object({ replicas: z.int().optional() }),
  scale: { specReplicas: "replicas", statusReplicas: "replicas" },
});
const operator = defineOperator({ name: "box", controllers: [controller(Box, { reconcile: async () => {} })] });
const roles = installManifests(operator, { image: "box:1", namespace: "ops" }).filter(
  (object): object is ClusterRole => object.kind === "ClusterRole" && object.metadata.name !== "box-operator",
);

test("an operator's kinds are in view, edit and admin, and nobody but it writes a status", async () => {
  await using plane = await startControlPlane({ host, controllers: false });
  const client = createClient(plane.transport, host);
  for (const role of roles) await client.create(ClusterRole, role);
  for (const name of ["view", "edit", "admin"]) {
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
    const subjects = [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name }];
    await client.create(RoleBinding, RoleBinding({ name, namespace: "default", roleRef, subjects }));
  }
  const may = async (user: string, verb: string, resource: string, subresource = ""): Promise<boolean> => {
    const resourceAttributes = { namespace: "default", group, verb, resource, subresource };
    const review = SubjectAccessReview({ spec: { user, resourceAttributes } });
    return (await client.create(SubjectAccessReview, review)).status?.allowed === true;
  };
  const allowed = async (verb: string, subresource = ""): Promise<readonly boolean[]> =>
    Promise.all(["view", "edit", "admin"].map((user) => may(user, verb, "boxes", subresource)));
  expect(await allowed("list")).toEqual([true, true, true]);
  expect(await allowed("get", "status")).toEqual([true, true, true]);
  expect(await allowed("create")).toEqual([false, true, true]);
  expect(await allowed("delete")).toEqual([false, true, true]);
  expect(await allowed("update", "scale")).toEqual([false, true, true]);
  expect(await allowed("update", "status")).toEqual([false, false, false]);
});

test("what reads gives no Secret and no writing verb", () => {
  const view = roles.find(({ metadata }) => metadata.name === "box-operator-view");
  expect(view?.rules).toEqual([
    { apiGroups: [group], resources: ["boxes", "boxes/status", "boxes/scale"], verbs: ["get", "list", "watch"] },
  ]);
});
