/**
 * One write of one object: create, PUT, the patches, server-side apply and scale differ only in how they make
 * the object (`WriteRequest`). The steps and their order are those of upstream:
 *
 * decode or merge, default → preconditions → system fields → managedFields → mutating admission →
 * ownerReferences → strategy → validation → validating admission, quota last → store if the key still holds
 * what was read.
 */
import { deepEqual, type UnstructuredObject } from "@setpoint/apimachinery";
import type { AdmissionRequest } from "../registry/admission-plugin.ts";
import { type MutableMeta, type MutableObject, setManagers } from "../registry/mutable-object.ts";
import { storageKey } from "../registry/object-key.ts";
import type { RegistryContext } from "../registry/registry-context.ts";
import { hasStatus, type ResourceDefinition, type WriteContext } from "../registry/resource-definition.ts";
import type { ServedRequest } from "../registry/served-request.ts";
import type { WriteOptions } from "../request/write-options.ts";
import { notFound } from "../response/api-errors.ts";
import { validateObject } from "../validation/validate-object.ts";
import { admissionRequest, admit, stillHolds, validate } from "./admission-chain.ts";
import { compareAndSwap, type Decision } from "./compare-and-swap.ts";
import { dedupeOwnerReferences } from "./dedupe-owner-references.ts";
import { updateGeneration } from "./generation.ts";
import { isUnchanged } from "./is-unchanged.ts";
import { managersOf } from "./managers-of.ts";
import { NameTaken } from "./name-taken.ts";
import { keepSystemFields, setSystemFields, withOthersPartsOf } from "./system-fields.ts";
import { checkUpdatePreconditions } from "./update-preconditions.ts";

/** The desired object of a request. */
export interface Change {
  /** Decoded and defaulted; the registry's own copy. */
  readonly object: MutableObject;
  /** Set by an apply, which decides about ownership itself; otherwise the difference decides. */
  readonly managedFields?: MutableMeta["managedFields"];
  readonly admitted?: AdmittedForm;
}

/** What admission sees in place of an object: a Scale in place of its parent. */
export interface AdmittedForm {
  /** As the request has it; admission may change it. */
  readonly object: MutableObject;
  /** The same form of another state of the object. */
  show(object: UnstructuredObject): UnstructuredObject;
  /** Writes admission's result back into the object. */
  take(object: MutableObject): void;
}

/** How a request makes its object. Both functions run again when the write starts again. */
export interface WriteRequest {
  readonly name: string;
  /** Makes the object where there is none; absent: 404. */
  readonly create?: () => Change;
  /** Makes the object from the present one; absent: 409, the name is taken. */
  readonly update?: (old: UnstructuredObject) => Change;
  /**
   * A PUT without a resourceVersion is refused unless the kind allows it; a patch is made on the newest
   * object.
   */
  readonly needsResourceVersion: boolean;
}

export interface WriteAnswer {
  readonly object: UnstructuredObject;
  readonly created: boolean;
}

interface WriteDecision extends Decision {
  readonly created: boolean;
  /** The answer when the update removed the last finalizer, so that the object is deleted. */
  readonly emptied?: MutableObject;
}

/** What all steps of one write work with. */
interface Steps {
  readonly context: RegistryContext;
  readonly served: ServedRequest;
  readonly options: WriteOptions;
  readonly request: WriteRequest;
}

export async function writeObject(
  context: RegistryContext,
  served: ServedRequest,
  options: WriteOptions,
  request: WriteRequest,
): Promise<WriteAnswer> {
  const { definition, attributes } = served;
  const { name } = request;
  const steps = { context, served, options, request };
  const target = {
    definition,
    key: storageKey(definition, attributes.namespace, name),
    name,
    dryRun: options.dryRun,
  };
  const { decision, object } = await compareAndSwap(context, target, (current) =>
    current === undefined || request.update === undefined
      ? decideCreate(steps, request.create, current)
      : decideUpdate(steps, request.update, current),
  );
  if (decision.emptied !== undefined) return { object: decision.emptied, created: false };
  if (object === undefined) throw notFound(definition, name);
  return { object: await context.view(definition).showReady(object), created: decision.created };
}

async function decideCreate(
  { context, served, options, request }: Steps,
  create: WriteRequest["create"],
  current: UnstructuredObject | undefined,
): Promise<WriteDecision> {
  const { definition, attributes, warnings } = served;
  const { strategy } = definition;
  if (create === undefined) throw notFound(definition, request.name);
  const { object, managedFields } = create();
  setSystemFields(context, definition, object, attributes.namespace);
  if (!isPatch(served)) dedupeOwnerReferences(object, warnings, "request");
  if (hasStatus(definition) && strategy.createsStatus !== true) delete object["status"];
  setManagers(object.metadata, managedFields ?? managersOf(context, served, options, undefined, object));
  const admission = admissionOf(context, served, options, object, undefined);
  await admit(context, admission);
  dedupeOwnerReferences(object, warnings, "admitted");
  const write = strategyContext(context, served, options);
  strategy.prepareForCreate?.(object, write);
  if (strategy.tracksGeneration === true || definition.custom) object.metadata.generation = 1;
  validateObject(definition, object, undefined, write);
  await validate(context, admission);
  // Last, as upstream: a client that is refused for another reason does not learn that the name is taken.
  if (current !== undefined) throw new NameTaken(definition, current);
  const outcome = await context.view(definition).toStored(object);
  return { outcome, created: true, stillHolds: () => stillHolds(context, admission) };
}

async function decideUpdate(
  { context, served, options, request }: Steps,
  update: NonNullable<WriteRequest["update"]>,
  current: UnstructuredObject,
): Promise<WriteDecision> {
  const { definition, attributes, warnings } = served;
  const { strategy } = definition;
  const view = context.view(definition);
  const old = await view.showReady(current);
  const { object: changed, managedFields, admitted } = update(old);
  checkUpdatePreconditions(definition, changed, old, request.needsResourceVersion);
  const object = withOthersPartsOf(old, changed, definition, attributes.subresource);
  keepSystemFields(object, old);
  if (!isPatch(served)) dedupeOwnerReferences(object, warnings, "request");
  setManagers(object.metadata, managedFields ?? managersOf(context, served, options, old, object));
  const admission = admissionOf(context, served, options, admitted?.object ?? object, admitted?.show(old) ?? old);
  await admit(context, admission);
  admitted?.take(object);
  dedupeOwnerReferences(object, warnings, "admitted");
  const write = strategyContext(context, served, options);
  strategy.prepareForUpdate?.(object, old, write);
  if (attributes.subresource !== "status") updateGeneration(definition, object, old);
  // An object that does not change stays valid, also when the rules have changed since it was stored.
  if (!deepEqual(object, old)) validateObject(definition, object, old, write);
  await validate(context, admitted === undefined ? admission : { ...admission, object: admitted.show(object) });
  if (hasLostItsLastFinalizer(definition, object, old)) return { outcome: "delete", created: false, emptied: object };
  const next = await view.toStored(object);
  const outcome = isUnchanged(next, current) ? "keep" : next;
  return { outcome, created: false, stillHolds: () => stillHolds(context, admission) };
}

/** Upstream looks for repeated owner references in what a patch made only after admission. */
function isPatch({ attributes }: ServedRequest): boolean {
  return attributes.verb === "patch";
}

function admissionOf(
  context: RegistryContext,
  served: ServedRequest,
  { dryRun }: WriteOptions,
  object: MutableObject,
  old: UnstructuredObject | undefined,
): AdmissionRequest {
  const operation = old === undefined ? "CREATE" : "UPDATE";
  const name = old === undefined ? (object.metadata.name ?? "") : served.attributes.name;
  return admissionRequest(context, served, { operation, name, object, old, dryRun });
}

function strategyContext(context: RegistryContext, served: ServedRequest, { dryRun }: WriteOptions): WriteContext {
  const { clock, random } = context.host;
  const { user, attributes, warnings } = served;
  const { subresource } = attributes;
  return { clock, random, user, subresource, dryRun, warn: (message) => warnings.add(message) };
}

/** An object that is being deleted is gone when nothing keeps it any more. */
function hasLostItsLastFinalizer(
  { strategy }: ResourceDefinition,
  object: MutableObject,
  old: UnstructuredObject,
): boolean {
  if (old.metadata.deletionTimestamp === undefined) return false;
  if ((old.metadata.deletionGracePeriodSeconds ?? 0) !== 0) return false;
  return (object.metadata.finalizers ?? []).length === 0 && strategy.hasOtherFinalizers?.(object) !== true;
}
