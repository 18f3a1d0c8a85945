import { deepEqual, isNotFound, type KubeList, type Status, type UnstructuredObject } from "@setpoint/apimachinery";
import { TimeSlices } from "@setpoint/host";
import { type DeleteOptions, parseDeleteOptions } from "../request/delete-options.ts";
import type { ServedRequest } from "../registry/served-request.ts";
import type { StorageKey } from "../storage/storage.ts";
import { conflict, notFound } from "../response/api-errors.ts";
import { decideWrite, type Outcome } from "./decide-write.ts";
import type { Waits } from "../registry/waits.ts";
import { goesAtOnce, markDeleted } from "./mark-deleted.ts";
import { storageKey } from "../registry/object-key.ts";
import { listObjects } from "../read/read-objects.ts";
import type { RegistryContext } from "../registry/registry-context.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import { settled, showReady, shownForm } from "../registry/resource-view.ts";
import { admissionRequest, admitting, validating } from "./write-kit.ts";

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
  // Neither a store in memory nor a dry run waits for anything, and a collection may be large.
  const slices = new TimeSlices(context.host.clock);
  for (const { metadata } of list.items) {
    if (slices.isOver()) await slices.pause();
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
  const made: Made = { isGone: false, isMarkedFirst: false };
  const { object: decided } = await decideWrite(context, { definition, key, name, dryRun: options.dryRun }, (current) =>
    decideDelete(context, served, options, { namespace, name, made }, current),
  );
  if (decided === undefined) throw notFound(definition, name);
  const object = made.isMarkedFirst && !options.dryRun ? await deleteMarked(context, key, decided) : decided;
  return { object: await showReady(view, object), isGone: made.isGone };
}

/** The second half of a graceful deletion that waits for nobody. */
export async function deleteMarked(
  { storage }: Pick<RegistryContext, "storage">,
  key: StorageKey,
  marked: UnstructuredObject,
): Promise<UnstructuredObject> {
  const { object, changed } = await storage.write(key, (current) =>
    current !== undefined && current.metadata.uid === marked.metadata.uid && goesAtOnce(current) ? "delete" : "keep",
  );
  // Somebody else may have been faster; then the mark is the last that is known.
  return changed ? (object ?? marked) : marked;
}

/** What the last decision was, beside its outcome. */
interface Made {
  isGone: boolean;
  /** It goes in a second write, after one that marks it. */
  isMarkedFirst: boolean;
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
  made.isMarkedFirst = false;
  if (current === undefined) throw notFound(definition, name);
  const old = view.mayAsk ? yield* shownForm(view, current) : view.show(current);
  checkPreconditions(definition, old, options);
  const subject = { operation: "DELETE", name, object: undefined, old, dryRun: options.dryRun } as const;
  const admission = { ...admissionRequest(context, served, subject), namespace };
  const admit = admitting(context, admission);
  for (let wait = admit(); wait !== undefined; wait = admit()) yield wait;
  const validate = validating(context, admission);
  for (let wait = validate(); wait !== undefined; wait = validate()) yield wait;
  const marked = markDeleted(context.host.clock, definition.strategy, old, options);
  made.isMarkedFirst = typeof marked === "object" && goesAtOnce(marked);
  made.isGone = marked === "delete" || made.isMarkedFirst;
  if (typeof marked === "string") return marked;
  const stored = view.toStored(marked);
  const next = stored instanceof Promise ? yield* settled(stored) : stored;
  // Whoever deletes again and again would otherwise be told of it, and others' preconditions would fail.
  return deepEqual(next, current) ? "keep" : next;
}

/** Refuses to delete another state of an object, or another object of the same name, than the caller means. */
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
