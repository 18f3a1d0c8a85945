import type { KubeList, UnstructuredObject } from "@setpoint/apimachinery";

const apiVersion = "meta.k8s.io/v1";
const partials = new WeakMap<UnstructuredObject, UnstructuredObject>();

/** The metadata of an object as an object of its own; made once, so that watchers share it. */
export function partialObjectMetadata(object: UnstructuredObject): UnstructuredObject {
  let partial = partials.get(object);
  if (partial === undefined) {
    partial = Object.freeze({ kind: "PartialObjectMetadata", apiVersion, metadata: object.metadata });
    partials.set(object, partial);
  }
  return partial;
}

export function partialObjectMetadataList(list: KubeList): KubeList {
  return {
    kind: "PartialObjectMetadataList",
    apiVersion,
    metadata: list.metadata,
    items: list.items.map(partialObjectMetadata),
  };
}
