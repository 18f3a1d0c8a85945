import {
  type ApiError,
  apiVersionOf,
  copyObject,
  deepEqual,
  invalid,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import { timestamp } from "@setpoint/host";
import { trackUpdate } from "../apply/track-update.ts";
import type { ServedRequest } from "../registry/served-request.ts";
import { conflict, modifiedMessage, notFound } from "../response/api-errors.ts";
import { hasStatus, prepareCreate } from "./create-object.ts";
import { decideWrite, type Outcome } from "./decide-write.ts";
import type { Waits } from "../registry/waits.ts";
import { dedupeOwnerReferences } from "./dedupe-owner-references.ts";
import { isUnchanged } from "./is-unchanged.ts";
import { type MutableMeta, type MutableObject, setManagers } from "../registry/mutable-object.ts";
import { storageKey } from "../registry/object-key.ts";
import type { RegistryContext } from "../registry/registry-context.ts";
import { resetFieldsOf } from "./reset-fields.ts";
import type { ResourceDefinition, WriteContext } from "../registry/resource-definition.ts";
import { settled, showReady, shownForm } from "../registry/resource-view.ts";
import { validateObject } from "../validation/validate-object.ts";
import { admissionHolds, admissionRequest, admitting, validating, writeContext } from "./write-kit.ts";
import type { WriteOptions } from "../request/write-options.ts";

/** What a request makes of the present object. */
export interface Change {
  /** Decoded and defaulted; the registry's own copy. */
  readonly object: MutableObject;
  /** Known already when the change is an apply; otherwise they follow from the difference. */
  readonly managedFields?: MutableMeta["managedFields"];
  readonly admitted?: AdmittedForm;
}

/** What admission sees in place of an object: a Scale in place of its parent. */
export interface AdmittedForm {
  /** As the request has it; admission may change it. */
  readonly object: MutableObject;
  /** Of an object as it is. */
  show(object: UnstructuredObject): UnstructuredObject;
  /** Puts into the object what admission made of its form. */
  take(object: MutableObject): void;
}

/** How one request changes an object: PUT, the patches, apply and scale differ in nothing else. */
export interface Changer {
  change(old: UnstructuredObject): Change;
  /** The object to create when there is none; absent: 404. */
  create?(): Change;
  /** A PUT without a resourceVersion is refused unless the kind allows it; a patch is made on the newest object. */
  readonly needsResourceVersion: boolean;
}

export interface UpdateAnswer {
  readonly object: UnstructuredObject;
  readonly created: boolean;
}

export async function updateObject(
  context: RegistryContext,
  served: ServedRequest,
  options: WriteOptions,
  changer: Changer,
): Promise<UpdateAnswer> {
  const { definition, attributes } = served;
  const { namespace, name } = attributes;
  const view = context.view(definition);
  const key = storageKey(definition, namespace, name);
  const made: Made = { created: false, emptied: undefined };
  const holds = (object: UnstructuredObject): boolean => {
    const operation = made.created ? "CREATE" : "UPDATE";
    const subject = { operation, name, object, old: undefined, dryRun: options.dryRun } as const;
    return admissionHolds(context, admissionRequest(context, served, subject));
  };
  const { object: stored } = await decideWrite(
    context,
    { definition, key, name, dryRun: options.dryRun, holds },
    (current) => decideUpdate(context, served, options, { changer, made }, current),
  );
  if (made.emptied !== undefined) return { object: made.emptied, created: false };
  if (stored === undefined) throw notFound(definition, name);
  const shown = showReady(view, stored);
  return { object: shown instanceof Promise ? await shown : shown, created: made.created };
}

/** What the last decision was, beside its outcome. */
interface Made {
  created: boolean;
  emptied: MutableObject | undefined;
}

function* decideUpdate(
  context: RegistryContext,
  served: ServedRequest,
  options: WriteOptions,
  { changer, made }: { readonly changer: Changer; readonly made: Made },
  current: UnstructuredObject | undefined,
): Waits<Outcome> {
  const { definition, attributes } = served;
  const view = context.view(definition);
  made.created = current === undefined;
  made.emptied = undefined;
  if (current === undefined) {
    if (changer.create === undefined) throw notFound(definition, attributes.name);
    const { object, managedFields } = changer.create();
    const created = view.toStored(yield* prepareCreate(context, served, options, object, managedFields));
    return created instanceof Promise ? yield* settled(created) : created;
  }
  const old = view.mayAsk ? yield* shownForm(view, current) : view.show(current);
  const change = changer.change(old);
  const object = yield* prepareUpdate(context, served, options, old, change, changer.needsResourceVersion);
  if (isEmptied(definition, object, old)) {
    made.emptied = object;
    return "delete";
  }
  const stored = view.toStored(object);
  const next = stored instanceof Promise ? yield* settled(stored) : stored;
  return isUnchanged(next, current) ? "keep" : next;
}

/** Everything that happens to a changed object before it is stored, in the order of upstream. */
function* prepareUpdate(
  context: RegistryContext,
  served: ServedRequest,
  options: WriteOptions,
  old: UnstructuredObject,
  change: Change,
  needsResourceVersion: boolean,
): Waits<MutableObject> {
  const { definition, attributes, warnings } = served;
  const { subresource } = attributes;
  const write = writeContext(context, served, options.dryRun);
  checkPreconditions(definition, change.object, old, needsResourceVersion);
  const object = keepBySubresource(definition, change.object, old, subresource);
  keepMetadata(object, old);
  dedupeOwnerReferences(object, warnings);
  setManagers(object.metadata, managersAfter(context, served, options, old, object, change.managedFields));
  const { admitted } = change;
  const admission = admissionRequest(context, served, {
    operation: "UPDATE",
    name: attributes.name,
    object: admitted?.object ?? object,
    old: admitted?.show(old) ?? old,
    dryRun: options.dryRun,
  });
  const admit = admitting(context, admission);
  for (let wait = admit(); wait !== undefined; wait = admit()) yield wait;
  admitted?.take(object);
  dedupeOwnerReferences(object, warnings);
  definition.strategy.prepareForUpdate?.(object, old, write);
  // Who writes a status desires nothing.
  if (subresource !== "status") countGeneration(definition, object, old);
  validateUpdate(definition, object, old, write);
  const changed = admitted === undefined ? admission : { ...admission, object: admitted.show(object) };
  const validate = validating(context, changed);
  for (let wait = validate(); wait !== undefined; wait = validate()) yield wait;
  return object;
}

function validateUpdate(
  definition: ResourceDefinition,
  object: MutableObject,
  old: UnstructuredObject,
  write: WriteContext,
): void {
  // An object that is as it was stays valid, whatever became of the rules.
  if (!deepEqual(object, old)) validateObject(definition, object, old, write);
}

function checkPreconditions(
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
    const message = "Invalid value: 0: must be specified for an update";
    // Upstream puts the resource where other errors of validation have the kind.
    const { group, resource } = definition;
    throw invalid({ group, kind: resource }, name, [
      { type: "FieldValueInvalid", field: "metadata.resourceVersion", message },
    ]);
  }
  if (isOther) throw otherUid(definition, name, uid);
}

/** What the real server says to a patch for another object: its validation looks twice, and its message once. */
function otherUid(definition: ResourceDefinition, name: string, uid: string): ApiError {
  const message = `Invalid value: "${uid}": field is immutable`;
  const cause = { type: "FieldValueInvalid", field: "metadata.uid", message } as const;
  return invalid(definition, name, [cause, cause]);
}

/**
 * Status belongs to the status subresource, everything else to the main resource. What an endpoint does not write is shared with the
 * stored object, and frozen as that is: whoever compares, validates or freezes the new one is done with it at one look.
 */
function keepBySubresource(
  definition: ResourceDefinition,
  object: MutableObject,
  old: UnstructuredObject,
  subresource: string,
): MutableObject {
  if (subresource === "status") {
    const { managedFields } = object.metadata;
    const metadata: MutableMeta = definition.custom ? copyObject(old.metadata) : object.metadata;
    if (definition.custom && managedFields !== undefined) metadata.managedFields = managedFields;
    const kept: MutableObject = copyObject(old);
    kept.metadata = metadata;
    if (object["status"] === undefined) delete kept["status"];
    else kept["status"] = object["status"];
    return kept;
  }
  if ((subresource === "" || subresource === "scale") && hasStatus(definition)) {
    if (old["status"] === undefined) delete object["status"];
    else object["status"] = old["status"];
  }
  return object;
}

const serverFields = [
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "generation",
  "selfLink",
  "resourceVersion",
] as const;

/** What is the server's own in metadata stays as it is. */
function keepMetadata(object: MutableObject, old: UnstructuredObject): void {
  const metadata: Record<string, unknown> = object.metadata;
  for (const field of serverFields) {
    const value = old.metadata[field];
    // A client that wants to mark an object deleted by a write, or to give it other time, is told, by validation, that this
    // is not the way.
    const isRefused = field === "deletionGracePeriodSeconds" || (field === "deletionTimestamp" && value === undefined);
    if (isRefused && (metadata[field] ?? undefined) !== undefined) continue;
    if (value === undefined) delete metadata[field];
    else metadata[field] = value;
  }
  if ((object.metadata.namespace ?? "") === "" && old.metadata.namespace !== undefined) {
    object.metadata.namespace = old.metadata.namespace;
  }
  if ((object.metadata.name ?? "") === "" && old.metadata.name !== undefined) object.metadata.name = old.metadata.name;
}

function managersAfter(
  context: RegistryContext,
  { definition, attributes }: ServedRequest,
  options: WriteOptions,
  live: UnstructuredObject,
  object: MutableObject,
  known: MutableMeta["managedFields"] | undefined,
): NonNullable<MutableMeta["managedFields"]> {
  if (known !== undefined) return known;
  const { subresource } = attributes;
  const time = timestamp(context.host.clock);
  const resetFields = resetFieldsOf(definition, subresource);
  const apiVersion = apiVersionOf(definition);
  const { schema } = definition;
  return trackUpdate({
    schema,
    live,
    object,
    manager: options.fieldManager,
    apiVersion,
    subresource,
    time,
    resetFields,
  });
}

function countGeneration(definition: ResourceDefinition, object: MutableObject, old: UnstructuredObject): void {
  const before = old.metadata.generation;
  if (definition.strategy.tracksGeneration !== true && !definition.custom) return;
  const isCounted = hasDesiredChange(definition, object, old) || definition.strategy.countsToo?.(object, old) === true;
  if (isCounted) object.metadata.generation = (before ?? 0) + 1;
}

function hasDesiredChange(definition: ResourceDefinition, object: MutableObject, old: UnstructuredObject): boolean {
  const ignoresStatus = !definition.custom || hasStatus(definition);
  const fields = new Set([...Object.keys(object), ...Object.keys(old)]);
  for (const field of fields) {
    if (field === "metadata" || field === "apiVersion" || field === "kind") continue;
    if (field === "status" && ignoresStatus) continue;
    if (!deepEqual(object[field], old[field])) return true;
  }
  return false;
}

/** Whether the update took away the last thing that kept a deleted object. */
function isEmptied({ strategy }: ResourceDefinition, object: MutableObject, old: UnstructuredObject): boolean {
  if (old.metadata.deletionTimestamp === undefined) return false;
  if ((old.metadata.deletionGracePeriodSeconds ?? 0) !== 0) return false;
  return (object.metadata.finalizers ?? []).length === 0 && strategy.hasOtherFinalizers?.(object) !== true;
}
