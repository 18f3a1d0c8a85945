import type { PodTemplateSpec } from "setpoint/kinds";
import { expect, test } from "vitest";
import { type BoundTemplate, type Projection, withBinding, withoutBinding } from "./pod-template-binding.ts";

const orders: Projection = { id: "u1", name: "orders", secretName: "orders-login", env: [] };
const users: Projection = {
  id: "u2",
  name: "users",
  secretName: "users-login",
  env: [{ name: "USER", key: "username" }],
};

function bound(spec: PodTemplateSpec["spec"] = { containers: [{ name: "app" }, { name: "sidecar" }] }): BoundTemplate {
  return { template: { spec }, annotations: { team: "shop" } };
}

test("a binding is mounted below the root that it sets", () => {
  const { template } = withBinding(bound({ containers: [{ name: "app" }] }), orders);
  expect(template.spec).toEqual({
    containers: [
      {
        name: "app",
        env: [{ name: "SERVICE_BINDING_ROOT", value: "/bindings" }],
        volumeMounts: [{ name: "binding-u1", mountPath: "/bindings/orders", readOnly: true }],
      },
    ],
    volumes: [{ name: "binding-u1", secret: { secretName: "orders-login" } }],
  });
});

test("a root that the workload has is used and stays", () => {
  const root = { name: "SERVICE_BINDING_ROOT", value: "/platform" };
  const before = bound({ containers: [{ name: "app", env: [root] }] });
  const after = withBinding(before, orders);
  expect(after.template.spec?.containers[0]?.volumeMounts?.[0]?.mountPath).toBe("/platform/orders");
  expect(withoutBinding(after, "u1")).toEqual(before);
});

test("only the named containers get the binding", () => {
  const { template } = withBinding(bound(), { ...orders, containers: ["app"] });
  expect(template.spec?.containers[1]).toEqual({ name: "sidecar" });
});

test("init containers get it too", () => {
  const { template } = withBinding(bound({ containers: [], initContainers: [{ name: "migrate" }] }), orders);
  expect(template.spec?.initContainers?.[0]?.volumeMounts?.length).toBe(1);
});

test("a variable of the workload is never overwritten or removed", () => {
  const before = bound({ containers: [{ name: "app", env: [{ name: "USER", value: "mine" }] }] });
  const after = withBinding(before, users);
  expect(after.template.spec?.containers[0]?.env?.[0]).toEqual({ name: "USER", value: "mine" });
  expect(withoutBinding(after, "u2")).toEqual(before);
});

test("a repeated binding changes nothing, beside another one too", () => {
  const both = withBinding(withBinding(bound(), orders), users);
  expect(withBinding(both, orders)).toEqual(both);
  expect(withBinding(both, users)).toEqual(both);
});

test("unbinding removes exactly what was added, in any order", () => {
  const before = bound({
    containers: [
      { name: "app", env: [{ name: "A", value: "1" }], volumeMounts: [{ name: "data", mountPath: "/data" }] },
    ],
    volumes: [{ name: "data", emptyDir: {} }],
  });
  const both = withBinding(withBinding(before, orders), users);
  expect(withoutBinding(withoutBinding(both, "u1"), "u2")).toEqual(before);
  expect(withoutBinding(withoutBinding(both, "u2"), "u1")).toEqual(before);
});

test("the root stays while another binding needs it", () => {
  const one = withoutBinding(withBinding(withBinding(bound(), orders), users), "u1");
  expect(one.template.spec?.containers[0]?.env?.map(({ name }) => name)).toContain("SERVICE_BINDING_ROOT");
});

test("a changed binding loses the containers and variables that it no longer names", () => {
  const before = withBinding(bound(), users);
  const after = withBinding(before, { ...users, containers: ["app"], env: [{ name: "LOGIN", key: "username" }] });
  const [app, sidecar] = after.template.spec?.containers ?? [];
  expect(app?.env?.map(({ name }) => name).sort()).toEqual(["LOGIN", "SERVICE_BINDING_ROOT"]);
  expect(sidecar?.volumeMounts).toBe(undefined);
  expect(sidecar?.env?.map(({ name }) => name)).toEqual(["SERVICE_BINDING_ROOT"]);
});
