import { isNotFound } from "@setpoint/apimachinery";
import type { Client, KindRef } from "@setpoint/client";

/** The kind of definitions, of which nothing but the metadata is read. */
const definitionKind: KindRef = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
};

/** The name of a kind's CustomResourceDefinition. */
export function definitionName({ plural, group }: Pick<KindRef, "plural" | "group">): string {
  return `${plural}.${group}`;
}

/**
 * Whether a kind's definition is being deleted or gone, by the server: then its objects are deleted with it,
 * and nobody has asked for the deletion of a single one.
 */
export async function isKindBeingDeleted(kind: KindRef, client: Client): Promise<boolean> {
  try {
    const { metadata } = await client.get(definitionKind, { name: definitionName(kind) });
    return metadata.deletionTimestamp !== undefined;
  } catch (error) {
    if (isNotFound(error)) return true;
    throw error;
  }
}
