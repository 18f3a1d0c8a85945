/**
 * RBAC: the roleRef of a binding is immutable, because a change would grant its subjects other rights
 * unasked.
 */
import type { FieldError, UnstructuredObject } from "@setpoint/apimachinery";
import { invalidValue, notSupported, required } from "../field-errors.ts";
import { objectAt, objectsAt, sameJson, stringAt } from "../json-fields.ts";
import type { KindStrategy, StrategyTable } from "./kind-strategy.ts";
import { setBindingDefaults } from "./other-defaults.ts";

function roleRefText(reference: unknown): string {
  const [APIGroup, Kind, Name] = ["apiGroup", "kind", "name"].map((field) => stringAt(reference, field));
  return JSON.stringify({ APIGroup, Kind, Name });
}

function validateBinding(kinds: readonly string[]) {
  return (binding: UnstructuredObject, old: UnstructuredObject | undefined): readonly FieldError[] => {
    const errors: FieldError[] = [];
    const reference = objectAt(binding, "roleRef");
    const kind = stringAt(reference, "kind");
    const isNamespaced = kinds.includes("Role");
    if (!kinds.includes(kind)) errors.push(notSupported("roleRef.kind", kind, kinds));
    if (stringAt(reference, "name") === "") errors.push(required("roleRef.name"));
    objectsAt(binding, "subjects").forEach((subject, index) =>
      errors.push(...subjectErrors(subject, index, isNamespaced)),
    );
    if (old !== undefined && !sameJson(reference, objectAt(old, "roleRef"))) {
      errors.push({
        ...invalidValue("roleRef", "", "cannot change roleRef"),
        message: `Invalid value: ${roleRefText(reference)}: cannot change roleRef`,
      });
    }
    return errors;
  };
}

/** A binding of one namespace may leave out that of an account. */
function subjectErrors(subject: Record<string, unknown>, index: number, isNamespaced: boolean): readonly FieldError[] {
  const at = `subjects[${index}]`;
  const kind = stringAt(subject, "kind");
  const errors: FieldError[] = [];
  if (stringAt(subject, "name") === "") errors.push(required(`${at}.name`));
  if (kind === "ServiceAccount" && !isNamespaced && stringAt(subject, "namespace") === "")
    errors.push(required(`${at}.namespace`));
  if (!["ServiceAccount", "User", "Group"].includes(kind))
    errors.push(notSupported(`${at}.kind`, kind, ["ServiceAccount", "User", "Group"]));
  return errors;
}

function validateRole(clusterScoped: boolean) {
  return (role: UnstructuredObject): readonly FieldError[] =>
    objectsAt(role, "rules").flatMap((rule, index) => ruleErrors(rule, `rules[${index}]`, clusterScoped));
}

function ruleErrors(rule: Record<string, unknown>, at: string, clusterScoped: boolean): readonly FieldError[] {
  const errors: FieldError[] = [];
  const count = (field: string): number => (Array.isArray(rule[field]) ? (rule[field] as unknown[]).length : 0);
  if (count("verbs") === 0) errors.push(required(`${at}.verbs`, "verbs must contain at least one value"));
  if (count("nonResourceURLs") > 0) {
    if (!clusterScoped)
      errors.push(
        invalidValue(
          `${at}.nonResourceURLs`,
          rule["nonResourceURLs"],
          "namespaced rules cannot apply to non-resource URLs",
        ),
      );
    return errors;
  }
  if (count("apiGroups") === 0)
    errors.push(required(`${at}.apiGroups`, "resource rules must supply at least one api group"));
  if (count("resources") === 0)
    errors.push(required(`${at}.resources`, "resource rules must supply at least one resource"));
  return errors;
}

const role: KindStrategy = { validate: validateRole(false) };

export const rbacStrategies: StrategyTable = {
  "rbac.authorization.k8s.io/Role": role,
  "rbac.authorization.k8s.io/ClusterRole": { validate: validateRole(true) },
  "rbac.authorization.k8s.io/RoleBinding": {
    defaults: setBindingDefaults,
    validate: validateBinding(["ClusterRole", "Role"]),
  },
  "rbac.authorization.k8s.io/ClusterRoleBinding": {
    defaults: setBindingDefaults,
    validate: validateBinding(["ClusterRole"]),
  },
};
