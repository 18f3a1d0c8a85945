/** The binding subresource: the scheduler sets a pod's node, once. */
import { copyObject, invalid, type UnstructuredObject } from "@setpoint/apimachinery";
import { timestamp } from "@setpoint/host";
import type { Endpoint } from "../registry/endpoint.ts";
import type { MutableMeta, MutableObject } from "../registry/mutable-object.ts";
import {
  checkIdentity,
  conflicting,
  createdStatus,
  type EndpointServer,
  isDryRun,
  missing,
  podKey,
} from "./endpoint-server.ts";
import { required } from "../registry/field-errors.ts";
import { type JsonObject, objectAt, objectsAt, stringAt } from "../registry/json-fields.ts";

const resource = "pods/binding";

export function bindPod({ storage, host }: EndpointServer): Endpoint {
  return async ({ attributes, body, request }) => {
    const node = stringAt(body, "target", "name");
    const name = attributes.resource === "bindings" ? stringAt(body, "metadata", "name") : attributes.name;
    if (node === "") throw invalid({ group: "", kind: "Binding" }, name, [required("target.name")]);
    await storage.write(podKey(attributes.namespace, name), (pod) => {
      if (pod === undefined) throw missing("pods", name);
      const bound = bind(pod, node, objectAt(body, "metadata"), timestamp(host.clock));
      return isDryRun(request.query) ? "keep" : bound;
    });
    return createdStatus();
  };
}

function bind(pod: UnstructuredObject, node: string, metadata: JsonObject, now: string): UnstructuredObject {
  const name = pod.metadata.name ?? "";
  checkIdentity(resource, pod, metadata);
  if (pod.metadata.deletionTimestamp !== undefined)
    throw conflicting(resource, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  const present = stringAt(pod, "spec", "nodeName");
  if (present !== "")
    throw conflicting(resource, name, `pod ${name} is already assigned to node ${JSON.stringify(present)}`);
  if (objectsAt(pod, "spec", "schedulingGates").length > 0)
    throw conflicting(resource, name, `pod ${name} has non-empty .spec.schedulingGates`);
  const scheduled = { type: "PodScheduled", status: "True", lastProbeTime: null, lastTransitionTime: now };
  const others = objectsAt(pod, "status", "conditions").filter((each) => each["type"] !== "PodScheduled");
  const bound: JsonObject & MutableObject = copyObject(pod);
  bound.metadata = copyObject(pod.metadata);
  bring(bound.metadata, metadata, "annotations");
  bring(bound.metadata, metadata, "labels");
  const spec: JsonObject = copyObject(objectAt(pod, "spec"));
  spec["nodeName"] = node;
  bound["spec"] = spec;
  const status: JsonObject = copyObject(objectAt(pod, "status"));
  status["conditions"] = [...others, scheduled];
  bound["status"] = status;
  return bound;
}

/** A binding may bring annotations and labels, which go to the pod in the same write. */
function bring(ofPod: MutableMeta, ofBinding: JsonObject, field: "annotations" | "labels"): void {
  const brought = objectAt(ofBinding, field);
  if (Object.keys(brought).length > 0) ofPod[field] = { ...ofPod[field], ...brought } as Record<string, string>;
}
