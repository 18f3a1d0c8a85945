/** Query and path parameters of the operations of OpenAPI, by what an operation does. */
import { lookupTable } from "@setpoint/apimachinery";

export interface Parameter {
  readonly name: string;
  readonly in: "query" | "path";
  readonly description: string;
  readonly required?: boolean;
  readonly schema: { readonly type: "string" | "integer" | "boolean"; readonly uniqueItems: true };
}

type Row = readonly [name: string, type: "string" | "integer" | "boolean", description: string];

const query = ([name, type, description]: Row): Parameter => ({
  name,
  in: "query",
  description,
  schema: { type, uniqueItems: true },
});

export function pathParameter(name: string, description: string): Parameter {
  return { name, in: "path", description, required: true, schema: { type: "string", uniqueItems: true } };
}

export const prettyParameter: Parameter = query(["pretty", "string", "'true' asks for indented output."]);

const dryRun: Row = ["dryRun", "string", "'All' runs every stage but stores nothing."];
const write: readonly Row[] = [
  dryRun,
  ["fieldManager", "string", "Who makes the change, for the ownership of fields; required by server-side apply."],
  ["fieldValidation", "string", "What unknown and duplicate fields do: Ignore, Warn or Strict."],
];
const select: readonly Row[] = [
  ["continue", "string", "The token of the previous page of a list."],
  ["fieldSelector", "string", "Restricts the objects by their fields."],
  ["labelSelector", "string", "Restricts the objects by their labels."],
  ["limit", "integer", "The largest number of objects on a page."],
  ["resourceVersion", "string", "How new, or exactly how old, the data must be."],
  ["resourceVersionMatch", "string", "How resourceVersion is meant: Exact or NotOlderThan."],
  ["sendInitialEvents", "boolean", "Starts a watch with the present state as events."],
  ["timeoutSeconds", "integer", "How long the call may last."],
];
const remove: readonly Row[] = [
  ["gracePeriodSeconds", "integer", "How long the object may take to end; 0 deletes at once."],
  ["orphanDependents", "boolean", "Deprecated in favour of propagationPolicy."],
  ["propagationPolicy", "string", "What becomes of dependents: Orphan, Background or Foreground."],
];
const watch: readonly Row[] = [
  ["allowWatchBookmarks", "boolean", "Allows events that carry only a resourceVersion."],
  ["watch", "boolean", "Streams changes instead of listing."],
];

const rows: Readonly<Record<string, readonly Row[]>> = lookupTable({
  list: [...select, ...watch],
  deletecollection: [...select, dryRun, ...remove],
  post: write,
  put: write,
  patch: [...write, ["force", "boolean", "Lets server-side apply take fields from other managers."]],
  delete: [dryRun, ...remove],
});

/** The query parameters of an action (`x-kubernetes-action`), by name. */
export function parametersOf(action: string): readonly Parameter[] {
  const sorted = (rows[action] ?? []).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(query);
}
