/** The endpoints of metrics.k8s.io: what nodes and pods use, computed from samples of the nodes' agents. */
import { type ApiResponse, formatQuantity, parseQuantity, type UnstructuredObject } from "@setpoint/apimachinery";
import { type Clock, type Logger, timestampAt } from "@setpoint/host";
import type { EndpointRequest, EndpointTable } from "../registry/endpoint.ts";
import { objectAt, stringAt } from "../registry/json-fields.ts";
import type { ObjectReader } from "../registry/object-reader.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import { parseSelection } from "../read/selection.ts";
import { parseListOptions } from "../request/list-options.ts";
import { notFound } from "../response/api-errors.ts";
import { metricsGroup, metricsResources, metricsVersion } from "./metrics-resources.ts";
import { NodeSamples, type ReadSummary, type SamplePair } from "./node-samples.ts";
import { type Usage, usageBetween, type UsageCount } from "./usage-sample.ts";

export interface ResourceMetricsOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly reader: ObjectReader;
  readonly readSummary: ReadSummary;
}

const apiVersion = `${metricsGroup}/${metricsVersion}`;

/** For the definitions in `metricsResources`. */
export function resourceMetricsEndpoints(options: ResourceMetricsOptions): EndpointTable {
  const { reader } = options;
  const samples = new NodeSamples(options);
  const measure = async (object: UnstructuredObject, kind: string): Promise<readonly object[]> => {
    const node = kind === "NodeMetrics" ? object : reader.get("", "nodes", "", stringAt(object, "spec", "nodeName"));
    const pair = node && (await samples.of(node));
    if (pair === undefined) return [];
    return kind === "NodeMetrics" ? nodeMetrics(object, pair) : podMetrics(object, pair);
  };
  return new Map(
    metricsResources.map((definition) => [
      `GET ${apiVersion}/${definition.resource}`,
      async (request) => {
        samples.keep(reader.list("", "nodes"));
        return answer(request, definition, reader, (object) => measure(object, definition.kind));
      },
    ]),
  );
}

async function answer(
  { attributes, request }: EndpointRequest,
  definition: ResourceDefinition,
  reader: ObjectReader,
  measure: (object: UnstructuredObject) => Promise<readonly object[]>,
): Promise<ApiResponse> {
  const { namespace, name } = attributes;
  const { resource, listKind } = definition;
  if (attributes.verb === "get") {
    const object = reader.get("", resource, namespace, name);
    const [found] = object === undefined ? [] : await measure(object);
    if (found === undefined) throw notFound(definition, namespace === "" ? name : `${namespace}/${name}`);
    return ok(found);
  }
  const selection = parseSelection(definition, parseListOptions(request.query));
  const selected = reader.list("", resource, namespace).filter((object) => selection.matches(object));
  const items = (await Promise.all(selected.map((object) => measure(object)))).flat();
  return ok({ kind: listKind, apiVersion, metadata: {}, items });
}

function ok(object: unknown): ApiResponse {
  return { kind: "object", status: 200, headers: { "content-type": "application/json" }, object };
}

function nodeMetrics(node: UnstructuredObject, { before, now }: SamplePair): readonly object[] {
  const usage = now.node && usageBetween(before?.node, now.node);
  return usage === undefined ? [] : [{ ...headOf(node, "NodeMetrics", usage), usage: amounts(usage) }];
}

/** A pod that has not started, or has ended, has no measurements. */
function podMetrics(pod: UnstructuredObject, { before, now }: SamplePair): readonly object[] {
  const uid = pod.metadata.uid ?? "";
  const counts: ReadonlyMap<string, UsageCount> = now.pods.get(uid) ?? new Map<string, UsageCount>();
  const used = [...counts].flatMap(([name, count]) => {
    const usage = usageBetween(before?.pods.get(uid)?.get(name), count);
    return usage === undefined ? [] : [{ name, usage }];
  });
  const [first] = used;
  if (first === undefined) return [];
  const containers = used.map(({ name, usage }) => ({ name, usage: amounts(usage) }));
  return [{ ...headOf(pod, "PodMetrics", first.usage), containers }];
}

function headOf({ metadata }: UnstructuredObject, kind: string, { atMs, windowMs }: Usage): object {
  const { name, namespace } = metadata;
  const timestamp = timestampAt(atMs);
  const own = { name, ...(namespace === undefined ? {} : { namespace }), creationTimestamp: timestamp };
  const labels = objectAt(metadata, "labels");
  const described = Object.keys(labels).length === 0 ? own : { ...own, labels };
  return { kind, apiVersion, metadata: described, timestamp, window: `${windowMs / 1_000}s` };
}

/** In the units of metrics-server. */
function amounts({ cpuNanosPerSecond, memoryBytes }: Usage): object {
  return { cpu: formatQuantity(parseQuantity(`${cpuNanosPerSecond}n`)), memory: `${Math.floor(memoryBytes / 1024)}Ki` };
}
