import { ClusterRole, ClusterRoleBinding, ConfigMap, Namespace, Role, RoleBinding } from "@setpoint/api";
import { createClient } from "@setpoint/client";
import { startControlPlane } from "@setpoint/controlplane";
import { systemHost } from "@setpoint/host/system";
import { controller, defineOperator } from "setpoint";
import { runOperator } from "setpoint/process";
import { expect, test } from "vitest";

const group = "rbac.authorization.k8s.io";

test("a sharded operator has the rights that it needs: two replicas divide the objects between them", async () => {
  const host = systemHost({ write: () => {} });
  await using plane = await startControlPlane({ host, controllers: false });
  const seen = new Map<string, string>();
  const operatorOf = (replica: string) =>
    defineOperator({
      name: "labels",
      sharded: true,
      controllers: [
        controller(ConfigMap, {
          name: "labels",
          reconcile: (object, { awaitChange }) => {
            seen.set(object.metadata.name, replica);
            return Promise.resolve(awaitChange());
          },
        }),
      ],
    });
  const admin = createClient(plane.transport, host);
  const operator = operatorOf("any");
  const subjects = [{ kind: "User", name: "labels", apiGroup: group }];
  await admin.create(Namespace, Namespace({ name: "work" }));
  await admin.create(ClusterRole, ClusterRole({ name: "labels", rules: operator.rules }));
  await admin.create(Role, Role({ name: "labels", namespace: "default", rules: operator.ownRules }));
  const roleRef = { apiGroup: group, name: "labels" };
  await admin.create(
    ClusterRoleBinding,
    ClusterRoleBinding({ name: "labels", roleRef: { ...roleRef, kind: "ClusterRole" }, subjects }),
  );
  await admin.create(
    RoleBinding,
    RoleBinding({ name: "labels", namespace: "default", roleRef: { ...roleRef, kind: "Role" }, subjects }),
  );
  const names = Array.from({ length: 60 }, (_, i) => `map-${i}`);
  for (const name of names) await admin.create(ConfigMap, ConfigMap({ name, namespace: "work", data: {} }));

  const transport = plane.transportAs({ username: "labels", groups: ["system:authenticated"] });
  const start = (identity: string) =>
    runOperator(operatorOf(identity), { transport, host, leaseNamespace: "default", identity, namespaces: ["work"] });
  await using a = start("a");
  await using b = start("b");
  await expect
    .poll(
      () =>
        [a, b].reduce(
          (sum, each) => sum + (each.shard()?.members.length === 2 ? (each.shard()?.runnableShare ?? 0) : 0),
          0,
        ),
      {
        timeout: 15_000,
      },
    )
    .toBe(1);
  await expect.poll(() => seen.size).toBe(60);
  seen.clear();
  for (const name of names) await admin.patch(ConfigMap, { name, namespace: "work" }, { data: { changed: "yes" } });
  await expect.poll(() => seen.size).toBe(60);
  expect(new Set(seen.values())).toEqual(new Set(["a", "b"]));
});
