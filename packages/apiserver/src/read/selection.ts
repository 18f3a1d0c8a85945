/** The predicate for the objects that a list or watch selects. */
import {
  type FieldRequirement,
  formatShardSelector,
  LabelSelector,
  matchesShard,
  parseFieldSelector,
  parseLabelSelector,
  parseShardSelector,
  type ShardSelector,
  type UnstructuredObject,
  messageOf,
} from "@setpoint/apimachinery";
import type { ListOptions } from "../request/list-options.ts";
import { badRequest, plainError } from "../response/api-errors.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";

export interface Selection {
  /** Whether everything is selected. */
  readonly isAll: boolean;
  /** Whether a page has a remainingItemCount. */
  readonly tellsRest: boolean;
  /** The list's `shardInfo`. */
  readonly shard?: string;
  matches(object: UnstructuredObject): boolean;
}

const everything: Selection = { isAll: true, tellsRest: true, matches: () => true };

/**
 * A part of what is selected otherwise, by the hash of an identity or a namespace. Everything when servers do
 * not know shards.
 */
export function inShard(selection: Selection, { shardSelector }: Pick<ListOptions, "shardSelector">): Selection {
  if (shardSelector === "") return selection;
  const shard = parsedShard(shardSelector);
  return {
    isAll: false,
    tellsRest: selection.tellsRest,
    shard: formatShardSelector(shard),
    matches: (object) => matchesShard(shard, object) && selection.matches(object),
  };
}

function parsedShard(text: string): ShardSelector {
  try {
    return parseShardSelector(text);
  } catch (error) {
    throw plainError(`invalid shard selector: ${messageOf(error)}`);
  }
}

/** `name` is the one in the URL: a watch of a single object is a watch of the collection that selects it. */
export function parseSelection(
  definition: ResourceDefinition,
  options: Pick<ListOptions, "labelSelector" | "fieldSelector">,
  name = "",
): Selection {
  const { labelSelector, fieldSelector } = options;
  if (labelSelector === "" && fieldSelector === "" && name === "") return everything;
  const labels = labelSelector === "" ? LabelSelector.everything : parsed(() => parseLabelSelector(labelSelector));
  const fields = parsed(() => parseFieldSelector(fieldSelector)).requirements.map((each) =>
    fieldTest(definition, each),
  );
  if (name !== "") fields.push(({ metadata }) => metadata.name === name);
  if (labels.isEverything && fields.length === 0) return everything;
  return {
    isAll: false,
    tellsRest: false,
    matches: (object) => labels.matches(object.metadata.labels) && fields.every((test) => test(object)),
  };
}

function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw badRequest(messageOf(error));
  }
}

function fieldTest(
  definition: ResourceDefinition,
  { field, operator, value }: FieldRequirement,
): (object: UnstructuredObject) => boolean {
  const read = fieldReader(definition, field);
  return operator === "=" ? (object) => read(object) === value : (object) => read(object) !== value;
}

function fieldReader(definition: ResourceDefinition, field: string): (object: UnstructuredObject) => string {
  if (field === "metadata.name") return ({ metadata }) => metadata.name ?? "";
  if (field === "metadata.namespace" && (definition.namespaced || !definition.custom)) {
    return ({ metadata }) => metadata.namespace ?? "";
  }
  const read = Object.hasOwn(definition.selectableFields, field) ? definition.selectableFields[field] : undefined;
  if (read !== undefined) return read;
  throw badRequest(unknownField(definition, field));
}

/** Upstream's message depends on who converts the fields of the kind. */
function unknownField({ custom, group, version, kind, selectableFields }: ResourceDefinition, field: string): string {
  if (kind === "Job") return `field label "${field}" not supported for Job`;
  if (kind === "ResourceSlice") return `field label not supported for ${group}/${version}, Kind=${kind}: ${field}`;
  if (custom || Object.keys(selectableFields).length > 0) return `field label not supported: ${field}`;
  return `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`;
}
