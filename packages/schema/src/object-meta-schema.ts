/** The schema of metadata, which a CRD's schema leaves out: every object has it, and the API owns it. */
import { lookupTable } from "@setpoint/apimachinery";
import type { StructuralSchema } from "./structural-schema.ts";

const text: StructuralSchema = { type: "string" };
const time: StructuralSchema = { type: "string", nullable: true };
const int64: StructuralSchema = { type: "integer", format: "int64" };
const boolean: StructuralSchema = { type: "boolean" };
const texts: StructuralSchema = { type: "object", additionalProperties: text };

const ownerReference: StructuralSchema = {
  type: "object",
  properties: { apiVersion: text, kind: text, name: text, uid: text, controller: boolean, blockOwnerDeletion: boolean },
};

const managedFieldsEntry: StructuralSchema = {
  type: "object",
  properties: {
    manager: text,
    operation: text,
    apiVersion: text,
    time,
    fieldsType: text,
    subresource: text,
    fieldsV1: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  },
};

export const objectMetaSchema: StructuralSchema = {
  type: "object",
  properties: {
    name: text,
    generateName: text,
    namespace: text,
    uid: text,
    resourceVersion: text,
    selfLink: text,
    generation: int64,
    creationTimestamp: time,
    deletionTimestamp: time,
    deletionGracePeriodSeconds: int64,
    labels: texts,
    annotations: texts,
    finalizers: { type: "array", items: text },
    ownerReferences: { type: "array", items: ownerReference },
    managedFields: { type: "array", items: managedFieldsEntry },
  },
};

/**
 * Whether apiVersion, kind and metadata are implied at the top of an object of this schema. Built-in kinds
 * spell their metadata out; CRDs may at most restrict its name.
 */
export function hasImpliedMetadata(schema: StructuralSchema): boolean {
  return schema.properties?.["metadata"]?.properties?.["resourceVersion"] === undefined;
}

const implied: Readonly<Record<string, StructuralSchema>> = lookupTable({
  apiVersion: text,
  kind: text,
  metadata: objectMetaSchema,
});

/** The schema of a field of an object; `isResource` when the object is a whole object of the API. */
export function propertySchema(
  schema: StructuralSchema,
  name: string,
  isResource: boolean,
): StructuralSchema | undefined {
  if (isResource && Object.hasOwn(implied, name)) return implied[name];
  const { properties } = schema;
  return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

export function isEmbedded(schema: StructuralSchema): boolean {
  return schema["x-kubernetes-embedded-resource"] === true;
}
