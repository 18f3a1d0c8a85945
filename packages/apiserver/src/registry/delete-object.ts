import { deepEqual, isNotFound, type KubeList, type Status, type UnstructuredObject } from "@setpoint/apimachinery";
import { timestamp } from "@setpoint/host";
import { type DeleteOptions, parseDeleteOptions } from "../request/delete-options.ts";
import type { ServedRequest } from "../request/served-request.ts";
import { conflict, notFound } from "../response/api-errors.ts";
import { decideWrite, type Outcome, type Waits } from "./decide-write.ts";
import { finalizersForDeletion } from "./garbage-finalizers.ts";
import type { MutableMeta } from "./mutable-object.ts";
import { storageKey } from "./object-key.ts";
import { listObjects } from "./read-objects.ts";
import type { RegistryContext } from "./registry-context.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import { showReady, shownForm, storedForm } from "./resource-view.ts";
import { admissionRequest, admit, validateAdmission } from "./write-kit.ts";

export interface DeleteAnswer {
  readonly code: 200 | 202;
  readonly object: UnstructuredObject | Status;
}

export async function deleteObject(
  context: RegistryContext,
  served: ServedRequest,
  body: unknown,
): Promise<DeleteAnswer> {
  const options = parseDeleteOptions(body, served.request.query);
  const { namespace, name } = served.attributes;
  const { object, isGone } = await deleteNamed(context, served, options, namespace, name);
  const { definition } = served;
  if (!isGone) return { code: options.orphanDependents === false ? 202 : 200, object };
  const answer = definition.strategy.returnsDeletedObject === true ? object : deletedStatus(definition, object);
  return { code: 200, object: answer };
}

/** Deletes everything that the selectors choose and tells what it was; what is gone in the meantime does not matter. */
export async function deleteCollection(
  context: RegistryContext,
  served: ServedRequest,
  body: unknown,
): Promise<KubeList> {
  const options = parseDeleteOptions(body, served.request.query);
  const list = await listObjects(context, served);
  for (const { metadata } of list.items) {
    try {
      const { namespace = "", name = "" } = metadata;
      await deleteNamed(context, served, options, namespace, name);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  return list;
}

function deletedStatus(definition: ResourceDefinition, { metadata }: UnstructuredObject): Status {
  const { name = "", uid = "" } = metadata;
  const group = definition.group === "" ? {} : { group: definition.group };
  const details = { name, ...group, kind: definition.resource, uid };
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
}

interface Deletion {
  readonly object: UnstructuredObject;
  readonly isGone: boolean;
}

async function deleteNamed(
  context: RegistryContext,
  served: ServedRequest,
  options: DeleteOptions,
  namespace: string,
  name: string,
): Promise<Deletion> {
  const { definition } = served;
  const view = context.view(definition);
  const key = storageKey(definition, namespace, name);
  const made: Made = { isGone: false };
  const { object } = await decideWrite(context, { definition, key, name, dryRun: options.dryRun }, (current) =>
    decideDelete(context, served, options, { namespace, name, made }, current),
  );
  if (object === undefined) throw notFound(definition, name);
  return { object: await showReady(view, object), isGone: made.isGone };
}

/** What the last decision was, beside its outcome. */
interface Made {
  isGone: boolean;
}

interface Subject {
  readonly namespace: string;
  readonly name: string;
  readonly made: Made;
}

function* decideDelete(
  context: RegistryContext,
  served: ServedRequest,
  options: DeleteOptions,
  { namespace, name, made }: Subject,
  current: UnstructuredObject | undefined,
): Waits<Outcome> {
  const { definition } = served;
  const view = context.view(definition);
  made.isGone = false;
  if (current === undefined) throw notFound(definition, name);
  const old = yield* shownForm(view, current);
  checkPreconditions(definition, old, options);
  const subject = { operation: "DELETE", name, object: undefined, old, dryRun: options.dryRun } as const;
  const admission = { ...admissionRequest(context, served, subject), namespace };
  yield* admit(context, admission);
  yield* validateAdmission(context, admission);
  const marked = markDeleted(context, definition, old, options);
  made.isGone = marked === "delete";
  if (typeof marked === "string") return marked;
  const next = yield* storedForm(view, marked);
  // Whoever deletes again and again would otherwise be told of it, and others' preconditions would fail.
  return deepEqual(next, current) ? "keep" : next;
}

function checkPreconditions(
  { group, kind }: ResourceDefinition,
  { metadata }: UnstructuredObject,
  { preconditions }: DeleteOptions,
): void {
  if (preconditions === undefined) return;
  const { uid, resourceVersion } = preconditions;
  // Upstream puts the Kind where other conflicts have the resource.
  const subject = { group, resource: kind };
  const { name = "" } = metadata;
  if (uid !== undefined && uid !== metadata.uid) {
    const text = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`;
    throw conflict(subject, name, text);
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const text = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`;
    throw conflict(subject, name, text);
  }
}

/** What a deletion does to an object: it goes, it is marked and waits for finalizers or its grace period, or nothing. */
function markDeleted(
  context: RegistryContext,
  { strategy }: ResourceDefinition,
  old: UnstructuredObject,
  options: DeleteOptions,
): UnstructuredObject | "delete" | "keep" {
  const metadata: MutableMeta = { ...old.metadata };
  const object = { ...old, metadata };
  const grace = gracePeriod(context, metadata, old, options, strategy);
  if (grace === "pending") return "keep";
  const { finalizers, changed } = finalizersForDeletion(old, options, strategy);
  if (changed) metadata.finalizers = finalizers;
  const waits = finalizers.length > 0;
  const isOtherwiseKept = strategy.hasOtherFinalizers?.(old) === true;
  if (!waits && !isOtherwiseKept && (grace === undefined || grace === 0)) return "delete";
  if (metadata.deletionTimestamp === undefined) markAt(metadata, timestamp(context.host.clock));
  // Kinds without graceful deletion wait for finalizers with a period of zero; a Namespace has none at all.
  if (grace === undefined && waits) metadata.deletionGracePeriodSeconds = 0;
  if (old.metadata.deletionTimestamp === undefined) strategy.onMarkedDeleted?.(object);
  return object;
}

function markAt(metadata: MutableMeta, time: string): void {
  metadata.deletionTimestamp = time;
  if ((metadata.generation ?? 0) > 0) metadata.generation = (metadata.generation ?? 0) + 1;
}

/** Sets the time of a graceful deletion; a second request may only shorten it, otherwise it is pending. */
function gracePeriod(
  context: RegistryContext,
  metadata: MutableMeta,
  old: UnstructuredObject,
  options: DeleteOptions,
  strategy: ResourceDefinition["strategy"],
): number | "pending" | undefined {
  if (strategy.deletionGraceSeconds === undefined) return undefined;
  const { clock } = context.host;
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  if (deletionTimestamp !== undefined) {
    const requested = options.gracePeriodSeconds;
    const before = deletionGracePeriodSeconds ?? 0;
    if (requested === undefined || deletionGracePeriodSeconds === undefined || requested >= before) return "pending";
    metadata.deletionTimestamp = shifted(deletionTimestamp, requested - before);
    metadata.deletionGracePeriodSeconds = requested;
    return requested;
  }
  const seconds = strategy.deletionGraceSeconds(old, options.gracePeriodSeconds);
  if (seconds === undefined) return undefined;
  markAt(metadata, shifted(timestamp(clock), seconds));
  metadata.deletionGracePeriodSeconds = seconds;
  return seconds;
}

function shifted(time: string, seconds: number): string {
  return `${new Date(Date.parse(time) + seconds * 1000).toISOString().slice(0, 19)}Z`;
}
