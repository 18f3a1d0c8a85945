/** Turns options into the query parameters and bodies of the API. */
import type {
  DeleteCollectionOptions,
  DeleteRequestOptions,
  ListPageOptions,
  PatchOptions,
  WatchOptions,
  WriteOptions,
} from "./request-options.ts";

type Query = Record<string, string>;

/** Content types of PATCH by what they are called in options. */
export const patchTypes: Readonly<Record<NonNullable<PatchOptions["type"]> | "apply", string>> = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};

export function writeQuery(options: WriteOptions & { readonly force?: boolean }): Query {
  return defined({
    fieldManager: options.fieldManager,
    fieldValidation: options.fieldValidation,
    dryRun: options.dryRun === true ? "All" : undefined,
    force: options.force === true ? "true" : undefined,
  });
}

export function listQuery(options: ListPageOptions): Query {
  return defined({
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    limit: options.limit === undefined ? undefined : String(options.limit),
    continue: options.continue,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch,
  });
}

export function watchQuery(options: WatchOptions): Query {
  const initial = options.sendInitialEvents === true;
  return defined({
    watch: "1",
    allowWatchBookmarks: "true",
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    resourceVersion: options.resourceVersion,
    sendInitialEvents: initial ? "true" : undefined,
    resourceVersionMatch: initial ? "NotOlderThan" : undefined,
    timeoutSeconds: options.timeoutSeconds === undefined ? undefined : String(options.timeoutSeconds),
  });
}

export function deleteQuery(options: DeleteRequestOptions | DeleteCollectionOptions): Query {
  return options.dryRun === true ? { dryRun: "All" } : {};
}

export function deleteBody(options: DeleteRequestOptions & DeleteCollectionOptions): Record<string, unknown> {
  const { preconditions, gracePeriodSeconds, propagationPolicy, dryRun } = options;
  return defined({
    kind: "DeleteOptions",
    apiVersion: "v1",
    preconditions,
    gracePeriodSeconds,
    propagationPolicy,
    dryRun: dryRun === true ? ["All"] : undefined,
  });
}

function defined<V>(fields: Readonly<Record<string, V | undefined>>): Record<string, V> {
  const result: Record<string, V> = {};
  for (const name in fields) {
    const value = fields[name];
    if (value !== undefined) result[name] = value;
  }
  return result;
}
