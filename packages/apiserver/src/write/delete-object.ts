import { deepEqual, isNotFound, type KubeList, type Status, type UnstructuredObject } from "@setpoint/apimachinery";
import { TimeSlices } from "@setpoint/host";
import { type DeleteOptions, parseDeleteOptions } from "../request/delete-options.ts";
import type { ServedRequest } from "../registry/served-request.ts";
import type { StorageKey } from "../storage/storage.ts";
import { conflict, notFound } from "../response/api-errors.ts";
import { compareAndSwap, type Decision } from "./compare-and-swap.ts";
import { goesAtOnce, markDeleted } from "./mark-deleted.ts";
import { storageKey } from "../registry/object-key.ts";
import { listObjects } from "../read/read-objects.ts";
import type { RegistryContext } from "../registry/registry-context.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import { admissionRequest, admit, validate } from "./admission-chain.ts";

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

/** Deletions of a collection share the write to disk that each of them waits for. */
const deletionsAtOnce = 32;

/** Deletes everything that the selectors choose and returns it; what is already gone is no error. */
export async function deleteCollection(
  context: RegistryContext,
  served: ServedRequest,
  body: unknown,
): Promise<KubeList> {
  const options = parseDeleteOptions(body, served.request.query);
  const list = await listObjects(context, served);
  const waiting = list.items.values();
  // A store in memory and a dry run never leave the turn of the event loop, and a collection may be large.
  const slices = new TimeSlices(context.host.clock);
  let isRefused = false;
  const deleteWaiting = async (): Promise<void> => {
    for (const { metadata } of waiting) {
      if (slices.isOver()) await slices.pause();
      if (isRefused) return;
      try {
        await deleteNamed(context, served, options, metadata.namespace ?? "", metadata.name ?? "");
      } catch (error) {
        if (isNotFound(error)) continue;
        isRefused = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: deletionsAtOnce }, deleteWaiting));
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
  const key = storageKey(definition, namespace, name);
  const target = { definition, key, name, dryRun: options.dryRun };
  const { decision, object: decided } = await compareAndSwap(context, target, (current) =>
    decideDelete(context, served, options, { namespace, name }, current),
  );
  if (decided === undefined) throw notFound(definition, name);
  const object = decision.isMarkedFirst && !options.dryRun ? await deleteMarked(context, key, decided) : decided;
  return { object: await context.view(definition).showReady(object), isGone: decision.isGone };
}

/** The second half of a graceful deletion with nothing to wait for. */
export async function deleteMarked(
  { storage }: Pick<RegistryContext, "storage">,
  key: StorageKey,
  marked: UnstructuredObject,
): Promise<UnstructuredObject> {
  const { object, changed } = await storage.write(key, (current) =>
    current !== undefined && current.metadata.uid === marked.metadata.uid && goesAtOnce(current) ? "delete" : "keep",
  );
  // When another client was faster, the mark is the last known state.
  return changed ? (object ?? marked) : marked;
}

interface DeleteDecision extends Decision {
  readonly isGone: boolean;
  /** A second write deletes it, after one that marks it. */
  readonly isMarkedFirst: boolean;
}

async function decideDelete(
  context: RegistryContext,
  served: ServedRequest,
  options: DeleteOptions,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  current: UnstructuredObject | undefined,
): Promise<DeleteDecision> {
  const { definition } = served;
  const view = context.view(definition);
  if (current === undefined) throw notFound(definition, name);
  const old = await view.showReady(current);
  checkPreconditions(definition, old, options);
  const subject = { operation: "DELETE", name, object: undefined, old, dryRun: options.dryRun } as const;
  const admission = { ...admissionRequest(context, served, subject), namespace };
  await admit(context, admission);
  await validate(context, admission);
  const marked = markDeleted(context.host.clock, definition.strategy, old, options);
  if (typeof marked === "string") return { outcome: marked, isGone: marked === "delete", isMarkedFirst: false };
  const next = await view.toStored(marked);
  const isMarkedFirst = goesAtOnce(marked);
  // A repeated delete changes nothing: a new revision would wake watchers and fail the preconditions of
  // others.
  return { outcome: deepEqual(next, current) ? "keep" : next, isGone: isMarkedFirst, isMarkedFirst };
}

/**
 * Refuses to delete another state of an object, or another object of the same name, than the caller means.
 */
export function checkPreconditions(
  { group, kind }: Pick<ResourceDefinition, "group" | "kind">,
  { metadata }: UnstructuredObject,
  { preconditions }: Pick<DeleteOptions, "preconditions">,
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
