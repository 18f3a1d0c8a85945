import type { KubeList, UnstructuredObject } from "@setpoint/apimachinery";

const apiVersion = "meta.k8s.io/v1";
let newest: { readonly object: UnstructuredObject; readonly partial: UnstructuredObject } | undefined;

/**
 * The metadata of an object as an object of its own. The newest one is cached: an event goes to all watches
 * before the next event, so they share one object and its encoding. (A table of all of them, weak or not,
 * costs the garbage collector more than creating them.)
 */
export function partialObjectMetadata(object: UnstructuredObject): UnstructuredObject {
  if (newest?.object === object) return newest.partial;
  const partial: UnstructuredObject = Object.freeze({
    kind: "PartialObjectMetadata",
    apiVersion,
    metadata: object.metadata,
  });
  newest = { object, partial };
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
