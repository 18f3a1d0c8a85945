import { deepEqual, type KubeObject } from "@setpoint/apimachinery";

interface Counting extends KubeObject {
  readonly status?: { readonly conditions?: unknown };
}

/**
 * A predicate: a status that another client has written is corrected. Conditions do not count: one that
 * reports a refusal changes with every try, and would wake its own controller for the next.
 */
export function changesMoreThanConditions(old: Counting, next: Counting): boolean {
  const without = ({ metadata, status, ...fields }: Counting): object => {
    const { resourceVersion: _, managedFields: __, ...named } = metadata;
    const { conditions: ___, ...counts } = status ?? {};
    return { ...fields, named, counts };
  };
  return !deepEqual(without(old), without(next));
}
