/** get and list. */
import { apiVersionOf, isSetpointError, type KubeList, type UnstructuredObject } from "@setpoint/apimachinery";
import { badRequest, expired, initializing, notFound } from "../response/api-errors.ts";
import { type ListOptions, parseGetRevision, parseListOptions } from "../request/list-options.ts";
import type { ServedRequest } from "../registry/served-request.ts";
import { formatContinueToken, parseContinueToken } from "./continue-token.ts";
import { pathPrefixOf, storageKey } from "../registry/object-key.ts";
import type { RegistryContext } from "../registry/registry-context.ts";
import type { ResourceView } from "../registry/resource-view.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import { inShard, parseSelection, type Selection } from "./selection.ts";
import type { StorageSnapshot } from "../storage/storage.ts";
import { waitForRevision } from "./wait-for-revision.ts";

export async function getObject(context: RegistryContext, served: ServedRequest): Promise<UnstructuredObject> {
  const { definition, attributes, request } = served;
  const revision = parseGetRevision(request.query) ?? 0;
  if (revision > context.storage.revision) {
    await waitForRevision(context.storage, context.host.clock, definition.storagePrefix, revision);
  }
  const stored = context.storage.get(storageKey(definition, attributes.namespace, attributes.name));
  if (stored === undefined) throw notFound(definition, attributes.name);
  return context.view(definition).showReady(stored);
}

export async function listObjects(context: RegistryContext, served: ServedRequest): Promise<KubeList> {
  const { definition, attributes, request } = served;
  const options = parseListOptions(request.query);
  const chosen = parseSelection(definition, options);
  const selection = context.features.shardedListAndWatch === true ? inShard(chosen, options) : chosen;
  const { start, snapshot } = await readSnapshot(context, definition, attributes.namespace, options);
  const view = context.view(definition);
  const selected = (object: UnstructuredObject): boolean => selection.matches(object);
  const all = snapshot.objects;
  const first = start === "" ? 0 : firstNotBefore(definition, all, start);
  const limit = options.resourceVersion === 0 && options.continue === "" ? 0 : options.limit;
  const needed = limit > 0 && selection.isAll ? all.slice(first, first + limit) : all;
  await makeReady(view, needed, definition);
  const items: UnstructuredObject[] = [];
  let next = first;
  for (; next < all.length; next++) {
    const stored = all[next];
    if (stored === undefined) continue;
    if (limit > 0 && selection.isAll && items.length === limit) break;
    const shown = view.show(stored);
    if (!selected(shown)) continue;
    if (limit > 0 && items.length === limit) break;
    items.push(shown);
  }
  const more = next < all.length ? nextPage(definition, snapshot.revision, all, next, selection) : {};
  const shard = selection.shard === undefined ? {} : { shardInfo: { selector: selection.shard } };
  const metadata = { resourceVersion: String(snapshot.revision), ...more, ...shard };
  return { kind: definition.listKind, apiVersion: apiVersionOf(definition), metadata, items };
}

interface StartedSnapshot {
  readonly start: string;
  readonly snapshot: StorageSnapshot;
}

async function readSnapshot(
  context: RegistryContext,
  definition: ResourceDefinition,
  namespace: string,
  options: ListOptions,
): Promise<StartedSnapshot> {
  const { storage, host } = context;
  const pathPrefix = pathPrefixOf(definition, namespace);
  if (options.continue !== "") return continued(context, definition, pathPrefix, options);
  const wanted = options.resourceVersion ?? 0;
  if (wanted > storage.revision) await waitForRevision(storage, host.clock, definition.storagePrefix, wanted);
  // A limit with a revision and no match means "exactly this revision": the legacy rule.
  const isExact = wanted > 0 && (options.match === "Exact" || (options.match === "" && options.limit > 0));
  try {
    const revision = isExact ? { revision: wanted } : {};
    return { start: "", snapshot: storage.list(definition.storagePrefix, { pathPrefix, ...revision }) };
  } catch (error) {
    if (!isSetpointError(error, "ERR_COMPACTED")) throw error;
    throw expired("The resourceVersion for the provided list is too old.");
  }
}

function continued(
  context: RegistryContext,
  definition: ResourceDefinition,
  pathPrefix: string,
  options: ListOptions,
): StartedSnapshot {
  if (options.resourceVersion !== undefined && options.resourceVersion !== 0) {
    throw badRequest("specifying resource version is not allowed when using continue");
  }
  const { revision, start } = parseContinueToken(options.continue);
  const prefix = definition.storagePrefix;
  try {
    const at = revision > 0 ? { revision } : {};
    return { start, snapshot: context.storage.list(prefix, { pathPrefix, ...at }) };
  } catch (error) {
    if (!isSetpointError(error, "ERR_COMPACTED")) throw error;
    const message =
      "The provided continue parameter is too old to display a consistent list result. You can start a new list without " +
      "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. " +
      "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or " +
      "deleted between the time the first chunk was returned and now may show up in the list.";
    throw expired(message, formatContinueToken({ revision: -1, start }));
  }
}

function nextPage(
  definition: ResourceDefinition,
  revision: number,
  all: readonly UnstructuredObject[],
  next: number,
  selection: Selection,
): KubeList["metadata"] {
  const object = all[next];
  const start = object === undefined ? "" : pathOf(definition, object);
  const remaining = selection.tellsRest ? { remainingItemCount: all.length - next } : {};
  return { continue: formatContinueToken({ revision, start }), ...remaining };
}

function pathOf(definition: ResourceDefinition, { metadata }: UnstructuredObject): string {
  return storageKey(definition, metadata.namespace ?? "", metadata.name ?? "").path;
}

/** Objects are in the order of their paths, so a binary search finds the start of a page. */
function firstNotBefore(definition: ResourceDefinition, all: readonly UnstructuredObject[], start: string): number {
  let low = 0;
  let high = all.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const object = all[middle];
    if (object !== undefined && pathOf(definition, object) < start) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A real server answers lists and watches from a cache, which it cannot fill with what it cannot convert. */
async function makeReady(
  view: ResourceView,
  stored: readonly UnstructuredObject[],
  definition: ResourceDefinition,
): Promise<void> {
  try {
    await view.ready(stored);
  } catch (error) {
    throw initializing(definition, error);
  }
}
