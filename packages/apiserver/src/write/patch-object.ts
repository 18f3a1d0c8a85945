import {
  type FieldError,
  invalid,
  isApiError,
  isJsonObject,
  type JsonObject,
  jsonPatch,
  mergedPatch,
  messageOf,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import { strategicMergePatch } from "../patch/strategic-merge-patch.ts";
import { checkValueBounds } from "../request/body-bounds.ts";
import { noMap } from "../request/body-subject.ts";
import type { ServedRequest } from "../registry/served-request.ts";
import { badRequest, unroutedMediaType, unsupportedMediaType } from "../response/api-errors.ts";
import { applyObject } from "./apply-object.ts";
import { checkNamespace } from "./create-object.ts";
import type { PatchSubject } from "../registry/invalid-patch.ts";
import { decodeObject } from "../registry/object-codec.ts";
import { checkName } from "./put-object.ts";
import type { RegistryContext } from "../registry/registry-context.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import { type WriteAnswer, writeObject } from "./write.ts";
import { parseWriteOptions, type WriteOptions } from "../request/write-options.ts";

export const jsonPatchType = "application/json-patch+json";
const mergePatchType = "application/merge-patch+json";
const strategicPatchType = "application/strategic-merge-patch+json";
export const applyPatchType = "application/apply-patch+yaml";

/** PATCH of an object or of its status; the media type selects the kind of patch. */
export function patchObject(
  context: RegistryContext,
  served: ServedRequest,
  mediaType: string,
  body: unknown,
  duplicates: readonly string[],
): Promise<WriteAnswer> {
  checkPatchType(served.definition, mediaType);
  const { query, headers } = served.request;
  const options = parseWriteOptions(query, headers?.["user-agent"] ?? "", "PatchOptions");
  checkPatchOptions(served, options, mediaType);
  if (mediaType === applyPatchType) return applyObject(context, served, options, body, duplicates);
  const problems = mediaType === jsonPatchType ? duplicates.map((each) => `json patch ${each}`) : duplicates;
  const settings = { fieldValidation: options.fieldValidation, warnings: served.warnings, duplicates: problems };
  return writeObject(context, served, options, {
    name: served.attributes.name,
    needsResourceVersion: false,
    update(old) {
      const { definition } = served;
      const patched = patchValue(definition, mediaType, old, body);
      const patch = patchSubject(definition, mediaType, body, patched);
      const object = decodeObject(definition, patched, { ...settings, patch });
      checkName(object, served.attributes.name);
      checkNamespace(served.definition, object, served.attributes.namespace);
      return { object };
    },
  });
}

export function patchValue(
  definition: ResourceDefinition,
  mediaType: string,
  old: UnstructuredObject,
  body: unknown,
): unknown {
  if (mediaType === jsonPatchType) return jsonPatched(old, body);
  if (!isJsonObject(body)) throw noMap("error decoding patch", body);
  // It is decoded next, and that copies.
  if (mediaType === mergePatchType) return mergedPatch(old, body);
  return strategicallyMerged(definition, old, body);
}

/**
 * Upstream answers 500 for patches whose faults its library does not type; the client is to blame for them
 * all the same.
 */
function strategicallyMerged(definition: ResourceDefinition, old: UnstructuredObject, patch: JsonObject): unknown {
  try {
    return strategicMergePatch(definition.schema, old, patch);
  } catch (error) {
    throw isApiError(error) && error.code === 500 ? badRequest(messageOf(error)) : error;
  }
}

/** A short JSON patch can make a large object, and a deep one. */
function jsonPatched(old: UnstructuredObject, patch: unknown): unknown {
  const patched = jsonPatch(old, patch);
  checkValueBounds(patched);
  return patched;
}

function patchSubject(
  definition: ResourceDefinition,
  mediaType: string,
  patch: unknown,
  object: unknown,
): PatchSubject {
  if (mediaType === strategicPatchType) return { kind: "strategic", patch };
  return { kind: "patched", object, sorted: definition.custom };
}

export function checkPatchType(definition: ResourceDefinition, mediaType: string): void {
  const allowed = [jsonPatchType, mergePatchType, ...(definition.custom ? [] : [strategicPatchType]), applyPatchType];
  if (allowed.includes(mediaType)) return;
  throw definition.custom ? unsupportedMediaType(allowed) : unroutedMediaType();
}

export function checkPatchOptions({ request }: ServedRequest, options: WriteOptions, mediaType: string): void {
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
