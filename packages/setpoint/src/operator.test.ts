import { ConfigMap } from "@setpoint/api";
import { controller, defineKind, defineOperator } from "setpoint";
import { expect, test } from "vitest";
import { z } from "zod";

const Candy = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "Candy",
  spec: z.object({ flavor: z.string() }),
  status: z.object({ wrapped: z.boolean() }),
});

const candies = controller(Candy, { owns: { wrappers: ConfigMap }, desired: () => ({ children: [] }) });

test("an operator brings the CustomResourceDefinitions of its own kinds and of no others", () => {
  const operator = defineOperator({ name: "candy", controllers: [candies] });
  expect(operator.crds().map((crd) => crd.metadata.name)).toEqual(["candies.examples.setpoint.dev"]);
});

test("permissions follow from what the controllers declare", () => {
  const { rules, ownRules } = defineOperator({ name: "candy", controllers: [candies] });
  expect(rules).toEqual([
    { apiGroups: ["examples.setpoint.dev"], resources: ["candies"], verbs: ["get", "list", "watch"] },
    { apiGroups: ["examples.setpoint.dev"], resources: ["candies/status"], verbs: ["patch"] },
    { apiGroups: ["examples.setpoint.dev"], resources: ["candies/finalizers"], verbs: ["update"] },
    { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch", "create", "patch", "delete"] },
    { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
  ]);
  expect(ownRules).toEqual([
    { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create"] },
    { apiGroups: ["coordination.k8s.io"], resources: ["leases"], resourceNames: ["candy"], verbs: ["get", "update"] },
  ]);
});

test("of further permissions a role gets those that the controllers do not have", () => {
  const permissions = [
    { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "deletecollection"] },
    { apiGroups: [""], resources: ["configmaps"], verbs: ["create"] },
    { apiGroups: [""], resources: ["configmaps", "secrets"], verbs: ["get"] },
    { nonResourceURLs: ["/metrics"], verbs: ["get"] },
  ];
  const { rules } = defineOperator({ name: "candy", controllers: [candies], permissions });
  expect(rules.slice(5)).toEqual([{ ...permissions[0], verbs: ["deletecollection"] }, permissions[2], permissions[3]]);
});

test("a cleanup adds the permission to write finalizers", () => {
  const cleaning = controller(Candy, { reconcile: async () => {}, cleanup: async () => {} });
  const { rules } = defineOperator({ name: "candy", controllers: [cleaning] });
  expect(rules[0]?.verbs).toEqual(["get", "list", "watch", "patch"]);
});

function candyWith(spec: z.ZodObject, names: Readonly<Record<string, string>> = {}) {
  return defineKind({ group: "examples.setpoint.dev", version: "v1", kind: "Candy", spec, ...names });
}

const reconcile = async (): Promise<void> => {};

test("two definitions of one kind that differ are refused where the operator is defined", () => {
  const other = controller(candyWith(z.object({ flavor: z.string(), size: z.int() })), { name: "others", reconcile });
  const first = controller(candyWith(z.object({ flavor: z.string() })), { name: "first", reconcile });
  expect(() => defineOperator({ name: "candy", controllers: [first, other] })).toThrow(
    'Cannot define operator "candy": Candy.examples.setpoint.dev is defined twice, and the definitions differ at spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.size; use one defineKind',
  );
  const renamed = candyWith(z.object({ flavor: z.string() }), { kind: "Sweet", plural: "candies" });
  const versioned = candyWith(z.object({ flavor: z.string() }), { version: "v2" });
  for (const kind of [renamed, versioned])
    expect(() => defineOperator({ name: "candy", controllers: [first], kinds: [kind] })).toThrow("is defined twice");
});

test("a kind that was defined twice alike is installed once", () => {
  const [one, two] = ["one", "two"].map((name) =>
    controller(candyWith(z.object({ flavor: z.string() })), { name, reconcile }),
  );
  if (one === undefined || two === undefined) throw new Error("two controllers");
  expect(defineOperator({ name: "candy", controllers: [one, two] }).crds()).toHaveLength(1);
});

test("two controllers of one name, or of one field manager, are refused where the operator is defined", () => {
  const controllers = [controller(Candy, { reconcile }), controller(Candy, { reconcile })];
  expect(() => defineOperator({ name: "candy", controllers })).toThrow(
    'Cannot define operator "candy": two controllers have the name "candy"; give one of them another `name`',
  );
  const sharing = ["one", "two"].map((name) => controller(Candy, { name, fieldManager: "sweets", reconcile }));
  expect(() => defineOperator({ name: "candy", controllers: sharing })).toThrow('have the fieldManager "sweets"');
});

test("an owned part of a kind gives the same permissions as the whole kind", () => {
  const selecting = controller(Candy, {
    owns: { wrappers: { kind: ConfigMap, labelSelector: "app=candy" } },
    desired: () => ({ children: [] }),
  });
  const whole = defineOperator({ name: "candy", controllers: [candies] });
  expect(defineOperator({ name: "candy", controllers: [selecting] }).rules).toEqual(whole.rules);
});

test("an owned kind that is only created gets no permission to change or delete it", () => {
  const writes = new Map([[ConfigMap, ["create"] as const]]);
  const { rules } = defineOperator({ name: "candy", controllers: [candies], writes });
  expect(rules.find((rule) => rule.resources?.includes("configmaps"))?.verbs).toEqual([
    "get",
    "list",
    "watch",
    "create",
  ]);
});
