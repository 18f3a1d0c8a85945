/**
 * The fields that an endpoint of an object does not write, so that no manager can own them through it.
 */
import { type FieldPathElement, FieldSet, fieldElement } from "@setpoint/apimachinery";
import type { StructuralSchema } from "@setpoint/schema";

const statusOnly = FieldSet.of([fieldElement("status")]);
const keptRootFields: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata", "status"]);
const customMetadataFields = ["annotations", "finalizers", "labels", "ownerReferences"];

/**
 * The fields reset on the main resource ("") or on `/status` of a kind that has a status subresource.
 * `/status` of custom resources resets all metadata, that of built-in kinds only labels (the rest varies by
 * kind upstream).
 */
export function resetFieldsOf(schema: StructuralSchema, subresource: "" | "status", custom: boolean): FieldSet {
  if (subresource === "") return statusOnly;
  const root = Object.keys(schema.properties ?? {}).filter((name) => !keptRootFields.has(name));
  const metadata = custom ? customMetadataFields : ["labels"];
  const paths: (readonly FieldPathElement[])[] = [
    ...root.map((name) => [fieldElement(name)]),
    ...metadata.map((name) => [fieldElement("metadata"), fieldElement(name)]),
  ];
  return FieldSet.of(...paths);
}
