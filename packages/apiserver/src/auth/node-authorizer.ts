/**
 * The permissions of node agents: on objects that pods bound to their node reference, and on their own
 * objects. NodeRestriction (`node-restriction.ts`) checks the content of the objects that they write.
 */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import type { ObjectReader } from "../registry/object-reader.ts";
import { startObjects } from "../registry/builtin/api-data.ts";
import { stringAt } from "../registry/json-fields.ts";
import type { AuthorizationDecision, Authorizer, RequestAttributes } from "../request/request-attributes.ts";
import { nodeIdentity } from "./node-identity.ts";
import { isVolumeOf } from "./node-volume.ts";
import { type PodReferences, podReferences } from "./pod-references.ts";
import { PodsByNode, type PodsByNodeOptions } from "./pods-by-node.ts";
import { type PolicyRule, readRules, ruleAllows } from "./policy-rule.ts";

/** Where the node authorizer reads the pods of a node, and the extra group of volume provisioners. */
export interface NodeAuthorizerOptions extends PodsByNodeOptions {
  /** Agents in this group also make the volumes of their node and bind the claims of their pods to them. */
  readonly provisionersGroup?: string;
}

const allowed: AuthorizationDecision = { allowed: true };
const noOpinion: AuthorizationDecision = { allowed: false };
const refuse = (reason: string): AuthorizationDecision => ({ allowed: false, reason });

const leaseNamespace = "kube-node-lease";
const reads: ReadonlySet<string> = new Set(["get", "list", "watch"]);
const ownWrites: ReadonlySet<string> = new Set(["get", "create", "update", "patch", "delete"]);

/** The rules that every agent has, for kinds that are not subdivided by node. */
function staticRules(): readonly PolicyRule[] {
  const roles = startObjects()["/apis/rbac.authorization.k8s.io/v1/clusterroles"] ?? [];
  const role = roles.find((each) => stringAt(each, "metadata", "name") === "system:node");
  return readRules(role as UnstructuredObject | undefined);
}

/** Denies without a reason for users that are not node agents, so that the next authorizer decides. */
export class NodeAuthorizer implements Authorizer, Disposable {
  readonly #pods: PodsByNode;
  readonly #reader: ObjectReader;
  readonly #provisionersGroup: string | undefined;
  readonly #rules: readonly PolicyRule[] = staticRules();

  constructor(options: NodeAuthorizerOptions) {
    this.#pods = new PodsByNode(options);
    this.#reader = options.reader;
    this.#provisionersGroup = options.provisionersGroup;
  }

  [Symbol.dispose](): void {
    this.#pods[Symbol.dispose]();
  }

  authorize(attributes: RequestAttributes): AuthorizationDecision {
    const node = nodeIdentity(attributes.user);
    if (node === undefined) return noOpinion;
    if (node === "") return refuse(`unknown node for user ${JSON.stringify(attributes.user.username)}`);
    return this.#subdivided(node, attributes) ?? this.#byRules(attributes);
  }

  #byRules(attributes: RequestAttributes): AuthorizationDecision {
    return this.#rules.some((rule) => ruleAllows(rule, attributes)) ? allowed : noOpinion;
  }

  /** Undefined for kinds that all nodes may use alike. */
  #subdivided(node: string, attributes: RequestAttributes): AuthorizationDecision | undefined {
    if (!attributes.isResourceRequest) return undefined;
    switch (attributes.group === "" ? attributes.resource : `${attributes.resource}.${attributes.group}`) {
      case "secrets":
        return this.#readNamed(node, attributes, ({ secrets }) => secrets);
      case "configmaps":
        return this.#readNamed(node, attributes, ({ configMaps }) => configMaps);
      case "persistentvolumeclaims":
        return this.#claim(node, attributes);
      case "persistentvolumes":
        return onlyGet(attributes) ?? this.#related(node, this.#usesVolume(node, attributes.name));
      case "serviceaccounts":
        return this.#token(node, attributes);
      case "leases.coordination.k8s.io":
        return lease(node, attributes);
      case "csinodes.storage.k8s.io":
        return csiNode(node, attributes);
      case "nodes":
        return ownNode(node, attributes);
      case "pods":
        return this.#pod(node, attributes);
      // This server attaches no volumes and allocates no devices, so a node never has objects of these kinds.
      case "volumeattachments.storage.k8s.io":
      case "resourceclaims.resource.k8s.io":
        return onlyGet(attributes) ?? this.#related(node, false);
      case "resourceslices.resource.k8s.io":
        return noOpinion;
      default:
        return undefined;
    }
  }

  #readNamed(
    node: string,
    attributes: RequestAttributes,
    namesOf: (references: PodReferences) => ReadonlySet<string>,
  ): AuthorizationDecision {
    const { verb, subresource, namespace, name } = attributes;
    if (!reads.has(verb)) return refuse("can only read resources of this type");
    if (subresource !== "") return refuse("cannot read subresource");
    if (namespace === "") return refuse("can only read namespaced object of this type");
    if (name === "") return refuse("No Object name found");
    return this.#related(node, this.#isNamed(node, namespace, name, namesOf));
  }

  #isNamed(
    node: string,
    namespace: string,
    name: string,
    namesOf: (references: PodReferences) => ReadonlySet<string>,
  ): boolean {
    return this.#pods.of(node, namespace).some((pod) => namesOf(podReferences(pod)).has(name));
  }

  #related(node: string, isRelated: boolean): AuthorizationDecision {
    return isRelated ? allowed : refuse(`no relationship found between node '${node}' and this object`);
  }

  #claim(node: string, attributes: RequestAttributes): AuthorizationDecision {
    const { verb, subresource, namespace, name, user } = attributes;
    const provisions = this.#provisionersGroup !== undefined && user.groups.includes(this.#provisionersGroup);
    const isUsed = (): boolean => name !== "" && this.#isNamed(node, namespace, name, ({ claims }) => claims);
    if (subresource === "status") {
      if (verb !== "update" && verb !== "patch") return refuse("can only get/update/patch this type");
      return name === "" ? refuse("No Object name found") : this.#related(node, isUsed());
    }
    if (provisions && verb === "patch" && subresource === "") return this.#related(node, isUsed());
    const problem = onlyGet(attributes);
    if (problem !== undefined) return problem;
    return this.#related(node, isUsed() || (provisions && this.#hasVolumeFor(node, namespace, name)));
  }

  /** A provisioner asks whether the claim of a volume that it made is still there, after the pod is gone. */
  #hasVolumeFor(node: string, namespace: string, name: string): boolean {
    return this.#reader.list("", "persistentvolumes").some((volume) => {
      const isItsClaim = (field: string, value: string): boolean =>
        stringAt(volume, "spec", "claimRef", field) === value;
      return isVolumeOf(node, volume) && isItsClaim("namespace", namespace) && isItsClaim("name", name);
    });
  }

  #usesVolume(node: string, volume: string): boolean {
    return this.#pods.of(node, "").some((pod) => {
      const { namespace = "" } = pod.metadata;
      return [...podReferences(pod).claims].some((claim) => {
        const stored = this.#reader.get("", "persistentvolumeclaims", namespace, claim);
        return stringAt(stored, "spec", "volumeName") === volume;
      });
    });
  }

  #token(node: string, { verb, subresource, namespace, name }: RequestAttributes): AuthorizationDecision {
    if (verb !== "create" || name === "") return refuse("can only create tokens for individual service accounts");
    if (subresource !== "token") return refuse("can only create token subresource of serviceaccount");
    const pods = this.#pods.of(node, namespace);
    return this.#related(
      node,
      pods.some((pod) => podReferences(pod).serviceAccount === name),
    );
  }

  #pod(node: string, attributes: RequestAttributes): AuthorizationDecision {
    const { verb, subresource, namespace, name } = attributes;
    // NodeRestriction checks that they are pods of the node.
    if (subresource === "status") return verb === "update" || verb === "patch" ? allowed : noOpinion;
    if (subresource === "eviction") return verb === "create" ? allowed : noOpinion;
    if (subresource !== "") return noOpinion;
    if (verb === "create" || verb === "delete") return allowed;
    if (!reads.has(verb)) return noOpinion;
    if (verb !== "get" && selectsNode(attributes.fieldSelector ?? "", node)) return allowed;
    if (name !== "")
      return this.#related(
        node,
        this.#pods.of(node, namespace).some((pod) => pod.metadata.name === name),
      );
    return refuse("can only list/watch pods with spec.nodeName field selector");
  }
}

function selectsNode(selector: string, node: string): boolean {
  return selector.split(",").some((each) => each === `spec.nodeName=${node}` || each === `spec.nodeName==${node}`);
}

function onlyGet({ verb, subresource, name }: RequestAttributes): AuthorizationDecision | undefined {
  if (verb !== "get") return refuse("can only get individual resources of this type");
  if (subresource !== "") return refuse("cannot get subresource");
  return name === "" ? refuse("No Object name found") : undefined;
}

function lease(node: string, { verb, namespace, name }: RequestAttributes): AuthorizationDecision {
  if (!ownWrites.has(verb)) return refuse("can only get, create, update, patch, or delete a node lease");
  if (namespace !== leaseNamespace)
    return refuse(`can only access leases in the ${JSON.stringify(leaseNamespace)} system namespace`);
  // Only NodeRestriction knows the name of a created object.
  if (verb === "create" || name === node) return allowed;
  return refuse("can only access node lease with the same name as the requesting node");
}

function csiNode(node: string, { verb, subresource, name }: RequestAttributes): AuthorizationDecision {
  if (!ownWrites.has(verb)) return refuse("can only get, create, update, patch, or delete a CSINode");
  if (subresource !== "") return refuse("cannot authorize CSINode subresources");
  if (verb === "create" || name === node) return allowed;
  return refuse("can only access CSINode with the same name as the requesting node");
}

function ownNode(node: string, { verb, subresource, name }: RequestAttributes): AuthorizationDecision {
  if (subresource === "status") return verb === "update" || verb === "patch" ? allowed : noOpinion;
  if (subresource !== "") return noOpinion;
  if (verb === "create" || verb === "update" || verb === "patch") return allowed;
  if (!reads.has(verb)) return noOpinion;
  if (name === node) return allowed;
  if (name === "") return refuse(`node '${node}' cannot read all nodes, only its own Node object`);
  return refuse(`node '${node}' cannot read '${name}', only its own Node object`);
}
