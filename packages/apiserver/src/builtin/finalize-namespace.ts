/** Takes finalizers from a namespace's spec; with the last one a namespace that is being deleted goes. */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import type { Endpoint } from "../registry/endpoint.ts";
import { answer, checkIdentity, type EndpointServer, isDryRun, missing } from "./endpoint-server.ts";
import { type JsonObject, objectAt } from "./json-fields.ts";

export function finalizeNamespace({ storage }: EndpointServer): Endpoint {
  return async ({ attributes, body, request }) => {
    // The namespace is a cluster-scoped object whose name some requests carry as their namespace.
    const name = attributes.name === "" ? attributes.namespace : attributes.name;
    let shown: UnstructuredObject | undefined;
    const { object, changed } = await storage.write({ prefix: "/namespaces", path: name }, (current) => {
      if (current === undefined) throw missing("namespaces", name);
      checkIdentity("namespaces", current, objectAt(body, "metadata"));
      shown = finalized(current, objectAt(body, "spec")["finalizers"]);
      if (isDryRun(request.query)) return "keep";
      return isGone(shown) ? "delete" : shown;
    });
    // A namespace that has just gone is shown as it last was, as upstream does.
    return answer(200, changed && shown !== undefined && !isGone(shown) ? object : shown);
  };
}

function finalized(namespace: UnstructuredObject, finalizers: unknown): UnstructuredObject {
  const spec: JsonObject = { ...objectAt(namespace, "spec") };
  if (Array.isArray(finalizers) && finalizers.length > 0) spec["finalizers"] = finalizers;
  else delete spec["finalizers"];
  return { ...namespace, spec };
}

function isGone(namespace: UnstructuredObject): boolean {
  const left = objectAt(namespace, "spec")["finalizers"];
  return (
    namespace.metadata.deletionTimestamp !== undefined &&
    left === undefined &&
    (namespace.metadata.finalizers ?? []).length === 0
  );
}
