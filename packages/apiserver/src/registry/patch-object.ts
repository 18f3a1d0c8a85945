import {
  apiVersionOf,
  cloneJson,
  type FieldError,
  invalid,
  isJsonObject,
  type JsonObject,
  jsonPatch,
  mergePatch,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import { timestamp } from "@setpoint/host";
import { applyPatch } from "../apply/apply-patch.ts";
import { strategicMergePatch } from "../patch/strategic-merge-patch.ts";
import { booleanParameter } from "../request/query-parameters.ts";
import type { ServedRequest } from "../request/served-request.ts";
import { badRequest, conflict, unsupportedMediaType } from "../response/api-errors.ts";
import { checkNamespace } from "./create-object.ts";
import type { PatchSubject } from "./invalid-patch.ts";
import { decodeObject, fillDefaults } from "./object-codec.ts";
import type { MutableObject } from "./mutable-object.ts";
import { checkName } from "./put-object.ts";
import type { RegistryContext } from "./registry-context.ts";
import { resetFieldsOf } from "./reset-fields.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import { type Change, type UpdateAnswer, updateObject } from "./update-object.ts";
import { parseWriteOptions, type WriteOptions } from "./write-options.ts";

const jsonPatchType = "application/json-patch+json";
const mergePatchType = "application/merge-patch+json";
const strategicPatchType = "application/strategic-merge-patch+json";
const applyPatchType = "application/apply-patch+yaml";

/** PATCH of an object or of its status; the media type says how. */
export async function patchObject(
  context: RegistryContext,
  served: ServedRequest,
  mediaType: string,
  body: unknown,
  duplicates: readonly string[],
): Promise<UpdateAnswer> {
  checkPatchType(served.definition, mediaType);
  const { query, headers } = served.request;
  const options = parseWriteOptions(query, headers?.["user-agent"] ?? "", "PatchOptions");
  checkPatchOptions(served, options, mediaType);
  if (mediaType === applyPatchType) return applyObject(context, served, options, body);
  const settings = { fieldValidation: options.fieldValidation, warnings: served.warnings, duplicates };
  return updateObject(context, served, options, {
    needsResourceVersion: false,
    change(old) {
      const { definition } = served;
      const patched = patchValue(definition, mediaType, patchedPart(old, served, mediaType, body), body);
      const patch = patchSubject(definition, mediaType, body, () => patchValue(definition, mediaType, old, body));
      const object = decodePatched(served, old, patched, { ...settings, patch });
      checkName(object, served.attributes.name);
      checkNamespace(served.definition, object, served.attributes.namespace);
      return { object };
    },
  });
}

/** What a patch of the status may name without reaching beyond what its endpoint writes. */
const ofStatus: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata", "status"]);

/**
 * What of the present object the patch is made on: of a patch that says nothing of the rest, what its endpoint would put back
 * anyhow is neither copied nor decoded. managedFields that it does not name are those that are there.
 */
function patchedPart(
  old: UnstructuredObject,
  { attributes }: ServedRequest,
  mediaType: string,
  patch: unknown,
): UnstructuredObject {
  if (mediaType !== mergePatchType && mediaType !== strategicPatchType) return old;
  if (!isJsonObject(patch) || hasDirective(patch)) return old;
  const { metadata: ofMetadata = {} } = patch;
  if (!isJsonObject(ofMetadata) || hasDirective(ofMetadata) || Object.hasOwn(ofMetadata, "managedFields")) return old;
  const { managedFields: _, ...metadata } = old.metadata;
  const { apiVersion, kind, status } = old;
  if (attributes.subresource !== "status" || !Object.keys(patch).every((field) => ofStatus.has(field)))
    return { ...old, metadata };
  return status === undefined ? { apiVersion, kind, metadata } : { apiVersion, kind, metadata, status };
}

/** Directives of strategic merge patches speak of a whole map. */
function hasDirective(patch: JsonObject): boolean {
  for (const field in patch) if (field.startsWith("$")) return true;
  return false;
}

export function patchValue(
  definition: ResourceDefinition,
  mediaType: string,
  old: UnstructuredObject,
  body: unknown,
): unknown {
  if (mediaType === jsonPatchType) return jsonPatch(old, body);
  if (!isJsonObject(body)) throw badRequest("error decoding patch: the patch is not an object");
  if (mediaType === mergePatchType) return mergePatch(old, body);
  return strategicMergePatch(definition.schema, old, body);
}

function decodePatched(
  { definition }: ServedRequest,
  old: UnstructuredObject,
  patched: unknown,
  settings: Parameters<typeof decodeObject>[2],
): MutableObject {
  const object = decodeObject(definition, patched, settings);
  // A patch that removes the name changes nothing.
  if (object.metadata.name === undefined && old.metadata.name !== undefined) object.metadata.name = old.metadata.name;
  return object;
}

function patchSubject(
  definition: ResourceDefinition,
  mediaType: string,
  patch: unknown,
  object: () => unknown,
): PatchSubject {
  if (mediaType === strategicPatchType) return { kind: "strategic", patch };
  return { kind: "patched", object, sorted: definition.custom };
}

export function checkPatchType(definition: ResourceDefinition, mediaType: string): void {
  const allowed = [jsonPatchType, mergePatchType, ...(definition.custom ? [] : [strategicPatchType]), applyPatchType];
  if (!allowed.includes(mediaType)) throw unsupportedMediaType(allowed);
}

function checkPatchOptions({ request }: ServedRequest, options: WriteOptions, mediaType: string): void {
  const errors: FieldError[] = [];
  const isApply = mediaType === applyPatchType;
  if (isApply && !options.fieldManagerGiven) {
    const message = "Required value: is required for apply patch";
    errors.push({ type: "FieldValueRequired", field: "fieldManager", message });
  }
  if (!isApply && request.query?.["force"] !== undefined) {
    const message = "Forbidden: may not be specified for non-apply patch";
    errors.push({ type: "FieldValueForbidden", field: "force", message });
  }
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", kind: "PatchOptions" }, "", errors);
}

const statusAlone: readonly string[] = ["status"];

/** Server-side apply: creates what is absent. */
async function applyObject(
  context: RegistryContext,
  served: ServedRequest,
  options: WriteOptions,
  body: unknown,
): Promise<UpdateAnswer> {
  const { definition, attributes, request } = served;
  if (!isJsonObject(body)) throw badRequest("error decoding YAML: the patch is not an object");
  const patch = namedPatch(definition, body, attributes.name, attributes.namespace);
  const force = booleanParameter(request.query, "force");
  const { subresource } = attributes;
  const apply = (live: UnstructuredObject | undefined): Change => {
    const { object, managedFields } = applyPatch({
      schema: definition.schema,
      live,
      patch,
      manager: options.fieldManager,
      force,
      apiVersion: apiVersionOf(definition),
      subresource,
      time: timestamp(context.host.clock),
      // Of a custom object the rest is put back as it is stored.
      ...(subresource === "status" && definition.custom ? { only: statusAlone } : {}),
      ...resetFieldsOf(definition, subresource),
    });
    // The merged object is a fresh copy that nobody else holds.
    return { object: fillDefaults(definition, object as MutableObject), managedFields };
  };
  const create = (): Change => {
    // Who may only patch must not make objects by it.
    context.authorize({ ...attributes, verb: "create" });
    const { uid } = patch.metadata;
    if (uid !== undefined) {
      const message = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
      throw conflict(definition, attributes.name, message);
    }
    const made = apply(undefined);
    // A revision is a precondition on what is there; of what is not, the real server makes one all the same.
    delete made.object.metadata.resourceVersion;
    return made;
  };
  const mayCreate = subresource === "" ? { create } : {};
  return updateObject(context, served, options, { needsResourceVersion: false, change: apply, ...mayCreate });
}

/** The patch with the name and namespace of the URL, which it may leave out. */
function namedPatch(
  definition: ResourceDefinition,
  body: JsonObject,
  name: string,
  namespace: string,
): UnstructuredObject {
  // applyPatch checks apiVersion and kind; only metadata is needed here.
  const patch = cloneJson(body) as unknown as MutableObject;
  patch.metadata = isJsonObject(patch.metadata) ? patch.metadata : {};
  patch.metadata.name ??= name;
  checkName(patch, name);
  if (definition.namespaced) patch.metadata.namespace ??= namespace;
  checkNamespace(definition, patch, namespace);
  return patch;
}
