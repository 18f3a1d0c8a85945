/** What protects the kinds whose objects own data, in the API server and in the operator's rights. */
import { CustomResourceDefinition } from "@setpoint/api";
import { groupResource } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import type { ControllerDefinition } from "@setpoint/runtime";
import { rule } from "@setpoint/schema";
import { admissionPolicy, type AdmissionPolicy } from "./admission-policy.ts";
import type { PolicyRule } from "./policy-rule.ts";

/** On a definition: a person says that it may be deleted although its objects own data. */
export const allowDeletion = "setpoint.dev/allow-deletion";

/** The policy, and its binding, that keep an operator's definitions; it outlives the operator as they do. */
export function dataPolicyName(operator: string): string {
  return `${operator}-operator-data`;
}

/** The kinds of controllers that keep the data of their objects when the kind goes away. */
export function dataKinds(controllers: readonly ControllerDefinition[]): readonly KindRef[] {
  return [...new Set(controllers.filter(({ releaseData }) => releaseData !== undefined).map(({ kind }) => kind))];
}

/** Refuses to delete the definitions; absent when no kind owns data. */
export function dataPolicies(
  operator: string,
  controllers: readonly ControllerDefinition[],
): readonly AdmissionPolicy[] {
  const kinds = dataKinds(controllers);
  if (kinds.length === 0) return [];
  const names = kinds.map((kind) => `'${definitionOf(kind)}'`).join(", ");
  const isAllowed = `has(oldObject.metadata.annotations) && '${allowDeletion}' in oldObject.metadata.annotations && oldObject.metadata.annotations['${allowDeletion}'] == 'true'`;
  const rules = [
    rule(
      `!(oldObject.metadata.name in [${names}]) || (${isAllowed})`,
      `objects of this kind own data, and all of them would be deleted: delete the objects first, or annotate the definition with ${allowDeletion}=true; then the objects go and their volumes stay`,
      { reason: "FieldValueForbidden" },
    ),
  ];
  return [admissionPolicy(CustomResourceDefinition, rules, { name: dataPolicyName(operator), operations: ["DELETE"] })];
}

/** To see whether a definition is being deleted. */
export function dataRules(controllers: readonly ControllerDefinition[]): readonly PolicyRule[] {
  const resourceNames = dataKinds(controllers).map(definitionOf);
  if (resourceNames.length === 0) return [];
  const { group, plural } = CustomResourceDefinition;
  return [{ apiGroups: [group], resources: [plural], resourceNames, verbs: ["get"] }];
}

function definitionOf({ group, plural }: KindRef): string {
  return groupResource({ group, resource: plural });
}
