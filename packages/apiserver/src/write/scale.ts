/** The scale subresource: an autoscaling/v1 Scale that reads and writes a few fields of its parent. */
import {
  cloneJson,
  type ApiError,
  invalid,
  isJsonObject,
  jsonPatch,
  labelSelectorOf,
  type LabelSelectorObject,
  mergePatch,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import { timestamp } from "@setpoint/host";
import { isIntegerOf } from "@setpoint/schema";
import { applyToScale, scaleManagers } from "../apply/scale-owners.ts";
import type { DecodedBody } from "../request/body-decoder.ts";
import { booleanParameter } from "../request/query-parameters.ts";
import type { ServedRequest } from "../registry/served-request.ts";
import { badRequest, internalError, unknownResource } from "../response/api-errors.ts";
import type { MutableObject } from "../registry/mutable-object.ts";
import { parseApplied } from "./apply-object.ts";
import { applyPatchType, checkPatchOptions, checkPatchType, jsonPatchType } from "./patch-object.ts";
import { checkName } from "./put-object.ts";
import { getObject } from "../read/read-objects.ts";
import { invalidValue } from "../registry/field-errors.ts";
import type { RegistryContext } from "../registry/registry-context.ts";
import type { ResourceDefinition, ScalePaths } from "../registry/resource-definition.ts";
import { type AdmittedForm, writeObject } from "./write.ts";
import { parseWriteOptions } from "../request/write-options.ts";

interface Scale extends UnstructuredObject {
  readonly spec: { readonly replicas?: number };
  readonly status: { readonly replicas: number; readonly selector?: string };
}

const scaleGroupKind = { group: "autoscaling", kind: "Scale" };

export async function getScale(context: RegistryContext, served: ServedRequest): Promise<Scale> {
  return scaleOf(pathsOf(served.definition), await getObject(context, served));
}

/** PUT and PATCH; a patch is made on the Scale, not on the parent. */
export async function writeScale(context: RegistryContext, served: ServedRequest, body: DecodedBody): Promise<Scale> {
  const { definition, request, attributes } = served;
  const paths = pathsOf(definition);
  const isPatch = attributes.verb === "patch";
  const kind = isPatch ? "PatchOptions" : "UpdateOptions";
  const options = parseWriteOptions(request.query, request.headers?.["user-agent"] ?? "", kind);
  if (isPatch) {
    checkPatchType(definition, body.mediaType);
    checkPatchOptions(served, options, body.mediaType);
  }
  const owners = { specReplicasPath: paths.specReplicasPath, manager: options.fieldManager };
  const isApply = isPatch && body.mediaType === applyPatchType;
  const force = booleanParameter(request.query, "force");
  const { object } = await writeObject(context, served, options, {
    name: attributes.name,
    needsResourceVersion: false,
    update(old) {
      // The object may have no replicas yet: this write may be the first to set them.
      const live = scaleOf(paths, old, 0);
      const write = { ...owners, parent: old, live, time: timestamp(context.host.clock) };
      const applied = isApply
        ? applyToScale(write, parseApplied(definition, body.value, attributes), force)
        : undefined;
      const value = applied?.object ?? (isPatch ? patchedScale(live, body) : body.value);
      const scale = parseScale(value, attributes.name);
      const managedFields = applied?.managedFields ?? scaleManagers(write, scale);
      return { object: withScale(paths, old, scale), managedFields, admitted: admittedForm(definition, paths, scale) };
    },
  });
  return scaleOf(paths, object);
}

function pathsOf({ scale }: ResourceDefinition): ScalePaths {
  if (scale === undefined) throw unknownResource();
  return scale;
}

/** `absent` is the value for a parent without replicas; without it they are required. */
function scaleOf(paths: ScalePaths, parent: UnstructuredObject, absent?: number): Scale {
  const replicas = valueAt(parent, paths.specReplicasPath) ?? absent;
  if (typeof replicas !== "number") {
    throw internalError(`the spec replicas field ${JSON.stringify(paths.specReplicasPath)} does not exist`);
  }
  const current = valueAt(parent, paths.statusReplicasPath);
  const selector = paths.labelSelectorPath === undefined ? "" : selectorText(valueAt(parent, paths.labelSelectorPath));
  const { name = "", namespace, uid = "", resourceVersion = "", creationTimestamp = null } = parent.metadata;
  const inNamespace = namespace === undefined ? {} : { namespace };
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, ...inNamespace, uid, resourceVersion, creationTimestamp },
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: typeof current === "number" ? current : 0, ...(selector === "" ? {} : { selector }) },
  };
}

function patchedScale(scale: Scale, { mediaType, value }: DecodedBody): unknown {
  // A Scale has no lists, so a strategic merge of it is a merge.
  return mediaType === jsonPatchType ? jsonPatch(scale, value) : mergePatch(scale, value);
}

/** The Scale that a request sends, or that its patch computes. */
type WantedScale = MutableObject & {
  readonly metadata: { readonly resourceVersion?: string; readonly uid?: string };
  readonly spec: { readonly replicas?: number };
};

/** Admission is about Scales; what counts of the one that it has seen is the number of replicas. */
function admittedForm(definition: ResourceDefinition, paths: ScalePaths, scale: WantedScale): AdmittedForm {
  return {
    object: scale,
    show: (parent) => scaleOf(paths, parent, 0),
    take(parent) {
      const { replicas = 0 } = scale.spec;
      if (replicas < 0) throw negativeReplicas(definition, parent.metadata.name ?? "", replicas);
      setAt(parent, paths.specReplicasPath, replicas);
    },
  };
}

/** A body may omit its type, since the URL implies it. */
function parseScale(value: unknown, name: string): WantedScale {
  if (!isJsonObject(value) || (value["kind"] ?? "Scale") !== "Scale" || !isJsonObject(value["metadata"])) {
    throw badRequest("the object provided is unrecognized (must be of type Scale)");
  }
  // The checks above are all that checkName needs.
  checkName(value as unknown as UnstructuredObject, name);
  const replicas = isJsonObject(value["spec"]) ? (value["spec"]["replicas"] ?? 0) : 0;
  if (typeof replicas !== "number" || !isIntegerOf("int32", replicas)) throw wrongReplicas(replicas);
  const wanted = {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { ...value["metadata"] },
    spec: replicas === 0 ? {} : { replicas },
    status: isJsonObject(value["status"]) ? { ...value["status"] } : { replicas: 0 },
  };
  // What counts of it was checked above.
  return wanted as unknown as WantedScale;
}

/** The message of Go's decoder. */
function wrongReplicas(replicas: unknown): Error {
  const type = Array.isArray(replicas) ? "array" : typeof replicas;
  const found = type === "number" ? `number ${String(replicas)}` : type === "boolean" ? "bool" : type;
  return badRequest(
    `Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal ${found} into Go struct field ScaleSpec.spec.replicas of type int32`,
  );
}

/** Of a custom object it is the object that is refused. */
function negativeReplicas({ group, kind, custom }: ResourceDefinition, name: string, replicas: number): ApiError {
  const error = custom
    ? invalidValue(".spec.replicas", replicas, "should be a non-negative integer")
    : invalidValue("spec.replicas", replicas, "must be greater than or equal to 0");
  return invalid(custom ? { group, kind } : scaleGroupKind, name, [error]);
}

function withScale(paths: ScalePaths, old: UnstructuredObject, scale: WantedScale): MutableObject {
  const object: MutableObject = cloneJson(old);
  const { resourceVersion = "", uid = "" } = scale.metadata;
  setAt(object, paths.specReplicasPath, scale.spec.replicas ?? 0);
  object.metadata.resourceVersion = String(resourceVersion);
  if (uid !== "") object.metadata.uid = String(uid);
  return object;
}

/** The value at a path of the form `.spec.replicas`. */
function valueAt(object: UnstructuredObject, path: string): unknown {
  let value: unknown = object;
  for (const field of path.split(".").slice(1)) value = isJsonObject(value) ? value[field] : undefined;
  return value;
}

function setAt(object: MutableObject, path: string, value: unknown): void {
  const fields = path.split(".").slice(1);
  const last = fields.pop() ?? "";
  let parent: Record<string, unknown> = object;
  for (const field of fields) {
    if (!isJsonObject(parent[field])) parent[field] = {};
    // The line above made sure that it is an object, and the whole copy is mutable.
    parent = parent[field] as Record<string, unknown>;
  }
  parent[last] = value;
}

/**
 * A selector as a string; CRDs store it so already, built-in kinds have a LabelSelector or a map of labels.
 */
function selectorText(selector: unknown): string {
  if (typeof selector === "string") return selector;
  if (!isJsonObject(selector)) return "";
  const isLabelSelector = isJsonObject(selector["matchLabels"]) || Array.isArray(selector["matchExpressions"]);
  // The kind's schema has checked that it is one of the two.
  const object = (isLabelSelector ? selector : { matchLabels: selector }) as LabelSelectorObject;
  return labelSelectorOf(object).toString();
}
