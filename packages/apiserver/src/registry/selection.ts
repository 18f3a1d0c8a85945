/** Which objects a list or watch asks for, as one predicate. */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import type { ListOptions } from "../request/list-options.ts";
import { badRequest } from "../response/api-errors.ts";
import type { ResourceDefinition } from "./resource-definition.ts";

export interface Selection {
  /** Whether everything is selected; then lists tell how many objects remain. */
  readonly isAll: boolean;
  matches(object: UnstructuredObject): boolean;
}

const everything: Selection = { isAll: true, matches: () => true };

export function parseSelection(
  definition: ResourceDefinition,
  options: Pick<ListOptions, "labelSelector" | "fieldSelector">,
  name = "",
): Selection {
  if (name !== "" && options.fieldSelector === "") return parseSelection(definition, { ...options, fieldSelector: `metadata.name=${name}` });
  if (options.labelSelector === "" && options.fieldSelector === "") return everything;
  const labels = parse(options.labelSelector);
  const fields = parse(options.fieldSelector).map(([field, value]) => [fieldReader(definition, field), value] as const);
  return {
    isAll: false,
    matches: (object) =>
      labels.every(([key, value]) => object.metadata.labels?.[key] === value) &&
      fields.every(([read, value]) => read(object) === value),
  };
}

function parse(selector: string): (readonly [string, string])[] {
  return selector
    .split(",")
    .filter((part) => part !== "")
    .map((part) => {
      const [key = "", value = ""] = part.split("=");
      return [key, value] as const;
    });
}

function fieldReader(definition: ResourceDefinition, field: string): (object: UnstructuredObject) => string {
  if (field === "metadata.name") return ({ metadata }) => metadata.name ?? "";
  if (field === "metadata.namespace") return ({ metadata }) => metadata.namespace ?? "";
  const read = definition.selectableFields[field];
  if (read === undefined) throw badRequest(`field label not supported: ${field}`);
  return read;
}
