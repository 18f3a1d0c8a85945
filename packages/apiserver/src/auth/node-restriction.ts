/**
 * NodeRestriction: a node agent writes only its own Node, its Lease, and objects of pods bound to its node.
 */
import { deepEqual, type UnstructuredObject } from "@setpoint/apimachinery";
import type { AdmissionPlugin, AdmissionRequest } from "../registry/admission-plugin.ts";
import type { ObjectReader } from "../registry/object-reader.ts";
import { forbiddenByAdmission } from "../admission/namespace-lifecycle.ts";
import { objectAt, objectsAt, sameJson, stringAt, valueAt } from "../registry/json-fields.ts";
import type { EndpointTable } from "../registry/endpoint.ts";
import { forbiddenStatus } from "./forbidden-message.ts";
import { nodeIdentity } from "./node-identity.ts";
import { forbiddenNodeLabels } from "./node-labels.ts";
import { isVolumeOf } from "./node-volume.ts";
import { podReferences } from "./pod-references.ts";

const mirrorAnnotation = "kubernetes.io/config.mirror";
const leaseNamespace = "kube-node-lease";
const quote = (text: string): string => JSON.stringify(text);

/**
 * `provisionersGroup` names agents that also make volumes of their node and bind claims to them, as the node
 * authorizer has it; without it, the rules are upstream's.
 */
export function createNodeRestriction(provisionersGroup?: string): AdmissionPlugin {
  return {
    name: "NodeRestriction",
    async validate(request) {
      const node = nodeIdentity(request.user);
      if (node === undefined || request.operation === "CONNECT") return;
      const provisions = provisionersGroup !== undefined && request.user.groups.includes(provisionersGroup);
      const problem =
        node === ""
          ? `could not determine node from user ${quote(request.user.username)}`
          : problemOf(node, request, provisions);
      if (problem !== undefined) throw forbiddenByAdmission(request, problem);
    },
  };
}

function problemOf(node: string, request: AdmissionRequest, provisions: boolean): string | undefined {
  const { group, resource } = request.definition;
  switch (group === "" ? resource : `${resource}.${group}`) {
    case "pods":
      return podProblem(node, request);
    case "nodes":
      return nodeProblem(node, request);
    case "persistentvolumeclaims":
      return claimProblem(node, request, provisions);
    case "persistentvolumes":
      return volumeProblem(node, request);
    case "leases.coordination.k8s.io":
      return leaseProblem(node, request);
    case "csinodes.storage.k8s.io":
      return request.name === node ? undefined : "can only access CSINode with the same name as the requesting node";
    default:
      return undefined;
  }
}

function podProblem(node: string, request: AdmissionRequest): string | undefined {
  const { operation, subresource, object, old } = request;
  if (subresource === "status") return podStatusProblem(node, request);
  if (subresource !== "") {
    return `unexpected pod subresource ${quote(subresource)}, only 'status' and 'eviction' are allowed`;
  }
  if (operation === "CREATE" && object !== undefined) return mirrorPodProblem(node, object, request.reader);
  if (operation !== "DELETE")
    return `unexpected operation ${quote(operation)}, node ${quote(node)} can only create and delete mirror pods`;
  if (stringAt(old, "spec", "nodeName") === node) return undefined;
  return `node ${quote(node)} can only delete pods with spec.nodeName set to itself`;
}

function podStatusProblem(node: string, { operation, object, old }: AdmissionRequest): string | undefined {
  if (operation !== "UPDATE" || old === undefined) return `unexpected operation ${quote(operation)}`;
  if (stringAt(old, "spec", "nodeName") !== node)
    return `node ${quote(node)} can only update pod status for pods with spec.nodeName set to itself`;
  if (!sameJson(object?.metadata.labels ?? {}, old.metadata.labels ?? {}))
    return `node ${quote(node)} cannot update labels through pod status`;
  const claims = (pod: UnstructuredObject | undefined): unknown =>
    valueAt(pod, "status", "resourceClaimStatuses") ?? [];
  return sameJson(claims(object), claims(old)) ? undefined : `node ${quote(node)} cannot update resource claim statues`;
}

function mirrorPodProblem(node: string, pod: UnstructuredObject, reader: ObjectReader): string | undefined {
  const who = `node ${quote(node)}`;
  if (pod.metadata.annotations?.[mirrorAnnotation] === undefined)
    return `pod does not have ${quote(mirrorAnnotation)} annotation, ${who} can only create mirror pods`;
  if (stringAt(pod, "spec", "nodeName") !== node) return `${who} can only create pods with spec.nodeName set to itself`;
  return ownerProblem(node, pod, reader) ?? referenceProblem(who, pod);
}

function ownerProblem(node: string, { metadata }: UnstructuredObject, reader: ObjectReader): string | undefined {
  const who = `node ${quote(node)}`;
  const [owner, ...others] = metadata.ownerReferences ?? [];
  if (others.length > 0) return `${who} can only create pods with a single owner reference set to itself`;
  if (owner?.apiVersion !== "v1" || owner.kind !== "Node" || owner.name !== node)
    return `${who} can only create pods with an owner reference set to itself`;
  if (owner.controller !== true) return `${who} can only create pods with a controller owner reference set to itself`;
  if (owner.blockOwnerDeletion === true) return `${who} must not set blockOwnerDeletion on an owner reference`;
  const uid = reader.get("", "nodes", "", node)?.metadata.uid ?? "";
  return owner.uid === uid ? undefined : `node ${node} UID mismatch: expected ${owner.uid} got ${uid}`;
}

function referenceProblem(who: string, pod: UnstructuredObject): string | undefined {
  const { secrets, configMaps, claims, serviceAccount } = podReferences(pod);
  if (serviceAccount !== "") return `${who} can not create pods that reference a service account`;
  if (secrets.size > 0) return `${who} can not create pods that reference secrets`;
  if (configMaps.size > 0) return `${who} can not create pods that reference configmaps`;
  const sources = objectsAt(pod, "spec", "volumes").flatMap((volume) => objectsAt(volume, "projected", "sources"));
  if (sources.some((source) => source["clusterTrustBundle"] !== undefined))
    return `${who} can not create pods that reference clustertrustbundles`;
  if (claims.size > 0) return `${who} can not create pods that reference persistentvolumeclaims`;
  if (objectsAt(pod, "spec", "resourceClaims").length > 0)
    return `${who} can not create pods that reference resourceclaims`;
  return undefined;
}

function nodeProblem(node: string, { operation, name, object, old }: AdmissionRequest): string | undefined {
  const who = `node ${quote(node)}`;
  if (name !== node) return `${who} is not allowed to modify node ${quote(name)}`;
  if (object === undefined) return undefined;
  const labels = forbiddenNodeLabels(object.metadata.labels ?? {}, old?.metadata.labels ?? {}).join(", ");
  if (operation === "CREATE") {
    if (valueAt(object, "spec", "configSource") !== undefined)
      return `${who} is not allowed to create pods with a non-nil configSource`;
    if (labels !== "") return `${who} is not allowed to set the following labels: ${labels}`;
  } else {
    const taints = (each: UnstructuredObject | undefined): unknown => objectsAt(each, "spec", "taints");
    const source = valueAt(object, "spec", "configSource");
    if (source !== undefined && !deepEqual(source, valueAt(old, "spec", "configSource")))
      return `${who} is not allowed to update configSource to a new non-nil configSource`;
    if (!sameJson(taints(object), taints(old))) return `${who} is not allowed to modify taints`;
    if (labels !== "") return `is not allowed to modify labels: ${labels}`;
  }
  // The garbage collector would delete a Node with an owner that does not exist; the agent recreates it
  // without its taints.
  const owners = (each: UnstructuredObject | undefined): unknown => each?.metadata.ownerReferences ?? [];
  return sameJson(owners(object), owners(old)) ? undefined : `${who} is not allowed to modify ownerReferences`;
}

function claimProblem(node: string, request: AdmissionRequest, provisions: boolean): string | undefined {
  const { operation, subresource, object, old, reader } = request;
  if (subresource === "status") return claimStatusProblem(node, request, provisions);
  if (!provisions || operation !== "UPDATE" || object === undefined || old === undefined)
    return "may only update PVC status";
  const volume = stringAt(object, "spec", "volumeName");
  if (
    volume !== stringAt(old, "spec", "volumeName") &&
    !isVolumeOf(node, reader.get("", "persistentvolumes", "", volume))
  )
    return `node ${quote(node)} can only bind claims to volumes of its own`;
  if (sameJson(bindable(object), bindable(old))) return undefined;
  return `node ${quote(node)} is not allowed to update fields other than the volume of a claim`;
}

/** The claim without what binding it changes. */
function bindable(claim: UnstructuredObject): unknown {
  const annotations = Object.entries(claim.metadata.annotations ?? {}).filter(
    ([key]) => !key.startsWith("pv.kubernetes.io/"),
  );
  const spec = { ...objectAt(claim, "spec"), volumeName: undefined };
  return {
    ...comparable(claim),
    metadata: { ...comparable(claim).metadata, annotations: Object.fromEntries(annotations) },
    spec,
  };
}

function comparable(object: UnstructuredObject): UnstructuredObject {
  const metadata: Record<string, unknown> = { annotations: {}, ...object.metadata };
  for (const field of ["managedFields", "resourceVersion"]) delete metadata[field];
  return { ...object, metadata };
}

function claimStatusProblem(
  node: string,
  { operation, object, old }: AdmissionRequest,
  provisions: boolean,
): string | undefined {
  if (operation !== "UPDATE" || object === undefined || old === undefined)
    return `unexpected operation ${quote(operation)}`;
  const written = ["capacity", "conditions", "allocatedResourceStatuses", "allocatedResources"];
  const own = provisions ? [...written, "phase", "accessModes"] : written;
  const without = (claim: UnstructuredObject): unknown => {
    const status = { ...objectAt(claim, "status") };
    for (const field of own) delete status[field];
    return { ...comparable(claim), status };
  };
  if (sameJson(without(object), without(old))) return undefined;
  return `node ${quote(node)} is not allowed to update fields other than status.capacity and status.conditions`;
}

/** Upstream's agents write no volumes at all; these may write volumes that only their node can use. */
function volumeProblem(node: string, { object, old, reader }: AdmissionRequest): string | undefined {
  const isOwn = [object, old].every((each) => each === undefined || isVolumeOf(node, each));
  if (!isOwn) return `node ${quote(node)} can only write volumes that are bound to itself`;
  if (object === undefined) return undefined;
  const { namespace, name } = objectAt(object, "spec", "claimRef");
  const before = objectAt(old, "spec", "claimRef");
  // A node may read the claims of its volumes, so it does not choose others later.
  if (old !== undefined && namespace === before["namespace"] && name === before["name"]) return undefined;
  const pods = reader.list("", "pods", String(namespace));
  const isUsed = pods.some(
    (pod) => stringAt(pod, "spec", "nodeName") === node && podReferences(pod).claims.has(String(name)),
  );
  return isUsed ? undefined : `node ${quote(node)} can only make volumes for claims of its pods`;
}

function leaseProblem(node: string, { namespace, name }: AdmissionRequest): string | undefined {
  if (namespace !== leaseNamespace) return `can only access leases in the ${quote(leaseNamespace)} system namespace`;
  return name === node ? undefined : "can only access node lease with the same name as the requesting node";
}

/** Evictions do not pass through admission, so their endpoint calls this check. */
export function restrictNodeEvictions(table: EndpointTable, reader: ObjectReader): EndpointTable {
  const key = "POST v1/pods/eviction";
  const evict = table.get(key);
  if (evict === undefined) return table;
  return new Map(table).set(key, (request) => {
    const { user, namespace, name } = request.attributes;
    const node = nodeIdentity(user);
    const pod = node === undefined ? undefined : reader.get("", "pods", namespace, name);
    if (node !== undefined && pod !== undefined && stringAt(pod, "spec", "nodeName") !== node)
      throw forbiddenStatus(
        { group: "", resource: "pods", name },
        `node ${node} can only evict pods with spec.nodeName set to itself`,
      );
    return evict(request);
  });
}
