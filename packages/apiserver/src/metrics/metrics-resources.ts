/** metrics.k8s.io/v1beta1 as metrics-server serves it: computed at each request, never stored. */
import type { ResourceDefinition } from "../registry/resource-definition.ts";

export const metricsGroup = "metrics.k8s.io";
export const metricsVersion = "v1beta1";

function definition(resource: string, kind: string, namespaced: boolean): ResourceDefinition {
  return {
    group: metricsGroup,
    version: metricsVersion,
    resource,
    singular: "",
    kind,
    listKind: `${kind}List`,
    namespaced,
    verbs: ["get", "list"],
    shortNames: [],
    categories: [],
    subresources: [],
    schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    custom: false,
    strategy: {},
    columns: [],
    selectableFields: {},
    storagePrefix: `/${metricsGroup}/${resource}`,
    storageVersion: metricsVersion,
  };
}

/** For servers that answer them by `resourceMetricsEndpoints`. */
export const metricsResources: readonly ResourceDefinition[] = [
  definition("nodes", "NodeMetrics", false),
  definition("pods", "PodMetrics", true),
];
