/**
 * What the fields of ObjectMeta mean. The recorded schemas have no descriptions. Every custom resource has
 * this field, and `kubectl explain` shows it.
 */
import { lookupTable } from "@setpoint/apimachinery";
import type { JsonSchema } from "./openapi-custom.ts";

/** The component that these descriptions belong to. */
export const objectMetaName = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

const descriptions: Readonly<Record<string, string>> = lookupTable({
  annotations: "Annotations are texts by key for programs and people. No selector reads them.",
  creationTimestamp: "CreationTimestamp is a timestamp of the moment when the server created the object.",
  deletionGracePeriodSeconds: "How many seconds the object may take to end after its deletion was requested.",
  deletionTimestamp: "When the object ends, after a client has requested its deletion.",
  finalizers: "The object stays until this list is empty. Each entry is removed by the program that added it.",
  generateName: "The start of the name. The server adds a random end to it when there is no name.",
  generation: "A number that the server raises when the desired state changes.",
  labels: "Labels are texts by key that selectors read.",
  managedFields: "Which client manages which fields, for server-side apply.",
  name: "The name of the object, unique among the objects of its kind in the namespace.",
  namespace: "The namespace of the object. Empty for kinds without namespaces.",
  ownerReferences: "The objects that this one belongs to. It is deleted when all of them are gone.",
  resourceVersion: "The version of the object as it is stored. Clients send it back to detect conflicts.",
  selfLink: "Deprecated. The server does not fill it.",
  uid: "The identity of the object. A new object of the same name has another one.",
});

/** The schema of ObjectMeta with descriptions. */
export function describeObjectMeta(schema: JsonSchema): JsonSchema {
  // ObjectMeta is an object whose properties are schemas.
  const properties = Object.entries((schema["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>);
  const described = properties.map(([name, property]) => [name, { description: descriptions[name], ...property }]);
  return {
    ...schema,
    description: "What the API knows about every object.",
    properties: Object.fromEntries(described),
  };
}
