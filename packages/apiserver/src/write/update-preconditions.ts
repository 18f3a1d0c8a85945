/** The preconditions of an update: the object's uid and resourceVersion. */
import { type ApiError, invalid, type UnstructuredObject } from "@setpoint/apimachinery";
import type { MutableObject } from "../registry/mutable-object.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import { conflict, modifiedMessage } from "../response/api-errors.ts";

export function checkUpdatePreconditions(
  definition: ResourceDefinition,
  { metadata }: MutableObject,
  old: UnstructuredObject,
  needsResourceVersion: boolean,
): void {
  const { name = "", uid: oldUid } = old.metadata;
  const { uid = "", resourceVersion = "" } = metadata;
  const isOther = uid !== "" && uid !== oldUid;
  if (isOther && needsResourceVersion) {
    const message = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${oldUid ?? ""}`;
    throw conflict(definition, name, message);
  }
  if (resourceVersion !== "" && resourceVersion !== "0") {
    if (resourceVersion !== old.metadata.resourceVersion) throw conflict(definition, name, modifiedMessage);
  } else if (needsResourceVersion && definition.strategy.allowsUnconditionalUpdate !== true) {
    throw resourceVersionMissing(definition, name);
  }
  if (isOther) throw otherUid(definition, name, uid);
}

/** Upstream puts the resource where other errors of validation have the kind. */
function resourceVersionMissing({ group, resource }: ResourceDefinition, name: string): ApiError {
  const message = "Invalid value: 0: must be specified for an update";
  return invalid({ group, kind: resource }, name, [
    { type: "FieldValueInvalid", field: "metadata.resourceVersion", message },
  ]);
}

/** Upstream validates the uid of a patch twice and reports it twice. */
function otherUid(definition: ResourceDefinition, name: string, uid: string): ApiError {
  const message = `Invalid value: "${uid}": field is immutable`;
  const cause = { type: "FieldValueInvalid", field: "metadata.uid", message } as const;
  return invalid(definition, name, [cause, cause]);
}
