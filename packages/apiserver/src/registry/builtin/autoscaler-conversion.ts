/**
 * HorizontalPodAutoscalers are stored as autoscaling/v2; v1 knows only the CPU target, so annotations keep
 * the other metrics and the behaviour, as in upstream.
 */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import { decodeJson, encodeJson } from "@setpoint/apimachinery";
import type { ResourceDefinition } from "../resource-definition.ts";
import { isJsonObject, type JsonObject, objectAt, objectsAt } from "../json-fields.ts";

const metricsAnnotation = "autoscaling.alpha.kubernetes.io/metrics";
const behaviorAnnotation = "autoscaling.alpha.kubernetes.io/behavior";

function cpuTarget(metric: JsonObject): unknown {
  const resource = objectAt(metric, "resource");
  return metric["type"] === "Resource" && resource["name"] === "cpu"
    ? objectAt(resource, "target")["averageUtilization"]
    : undefined;
}

function withAnnotations(
  object: UnstructuredObject,
  set: Readonly<Record<string, string | undefined>>,
): UnstructuredObject {
  const annotations: Record<string, string> = { ...object.metadata.annotations };
  for (const [name, value] of Object.entries(set)) {
    if (value === undefined) delete annotations[name];
    else annotations[name] = value;
  }
  const { annotations: _, ...metadata } = object.metadata;
  return { ...object, metadata: Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations } };
}

function toV1(stored: UnstructuredObject): UnstructuredObject {
  const { metrics: _metrics, behavior, ...spec } = objectAt(stored, "spec");
  const { currentMetrics: _current, conditions: _conditions, ...status } = objectAt(stored, "status");
  const metrics = objectsAt(stored, "spec", "metrics");
  const target = metrics.map(cpuTarget).find((each) => each !== undefined);
  const others = metrics.filter((metric) => cpuTarget(metric) === undefined);
  const carried = withAnnotations(stored, {
    [metricsAnnotation]: others.length === 0 ? undefined : encodeJson(others),
    [behaviorAnnotation]: behavior === undefined ? undefined : encodeJson(behavior),
  });
  const targetField = target === undefined ? {} : { targetCPUUtilizationPercentage: target };
  return {
    ...carried,
    apiVersion: "autoscaling/v1",
    spec: { ...spec, ...targetField },
    status: { currentReplicas: 0, ...status },
  };
}

function parsed(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return decodeJson(text);
  } catch {
    // A user may write anything into an annotation; what is not ours is ignored.
    return undefined;
  }
}

function toV2(object: UnstructuredObject): UnstructuredObject {
  const { targetCPUUtilizationPercentage, ...spec } = objectAt(object, "spec");
  const others = parsed(object.metadata.annotations?.[metricsAnnotation]);
  const behavior = parsed(object.metadata.annotations?.[behaviorAnnotation]);
  const averageUtilization = targetCPUUtilizationPercentage ?? (Array.isArray(others) ? undefined : 80);
  const cpu = { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization } } };
  const metrics = [...(averageUtilization === undefined ? [] : [cpu]), ...(Array.isArray(others) ? others : [])];
  const bare = withAnnotations(object, { [metricsAnnotation]: undefined, [behaviorAnnotation]: undefined });
  const status = { currentMetrics: null, desiredReplicas: 0, ...objectAt(object, "status") };
  return {
    ...bare,
    apiVersion: "autoscaling/v2",
    spec: { ...spec, ...(isJsonObject(behavior) ? { behavior } : {}), metrics },
    status,
  };
}

export const autoscalerConversion: NonNullable<ResourceDefinition["convert"]> = { fromStored: toV1, toStored: toV2 };
