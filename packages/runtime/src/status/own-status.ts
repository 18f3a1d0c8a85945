/** Which part of a status this controller has said, by the server's account of who owns what. */
import type { Condition, KubeObject } from "@setpoint/apimachinery";
import { childOf, isFields, ownedPart, type OwnedFields } from "../objects/owned-part.ts";
import { conditionsOf } from "./conditions.ts";

export interface OwnStatus {
  /** All but the conditions. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Also those of others where the list is one value for the server: what is left out would be gone. */
  readonly conditions: readonly Condition[];
}

/** Undefined when the object does not say who owns its fields, as objects of the cache do not. */
export function ownStatusOf(object: KubeObject, manager: string): OwnStatus | undefined {
  const entries = object.metadata.managedFields?.filter(({ subresource }) => subresource === "status");
  if (entries === undefined) return undefined;
  const isOurs = (each: (typeof entries)[number]): boolean => each.manager === manager && each.operation === "Apply";
  const ours = statusFields(entries.find(isOurs));
  const others = entries.filter((each) => !isOurs(each)).map((each) => childOf(statusFields(each), "f:conditions"));
  const { status } = object as { readonly status?: object };
  const part = ours === undefined || status === undefined ? {} : ownedPart(status, ours);
  const { conditions: _, ...fields } = isFields(part) ? part : {};
  const own = childOf(ours, "f:conditions");
  if (![own, ...others].some(namesElements)) return { fields, conditions: conditionsOf(status) };
  const said = own === undefined ? [] : conditionsOf({ conditions: ownedPart(conditionsOf(status), own) });
  return { fields, conditions: said.filter(({ type }) => !others.some((each) => hasAll(each, own, type))) };
}

function statusFields(entry: { readonly fieldsV1?: unknown } | undefined): OwnedFields | undefined {
  return isFields(entry?.fieldsV1) ? childOf(entry.fieldsV1, "f:status") : undefined;
}

/** Whether the server takes the conditions for single ones and not for one list. */
function namesElements(conditions: OwnedFields | undefined): boolean {
  return conditions !== undefined && Object.keys(conditions).some((element) => element.startsWith("k:"));
}

/**
 * Whether another manager owns all fields of this condition too. Then it stays without us, and we need not
 * own it.
 */
function hasAll(theirs: OwnedFields | undefined, ours: OwnedFields | undefined, type: string): boolean {
  const element = `k:${JSON.stringify({ type })}`;
  const [their, our] = [childOf(theirs, element), childOf(ours, element)];
  return their !== undefined && our !== undefined && Object.keys(our).every((field) => their[field] !== undefined);
}
