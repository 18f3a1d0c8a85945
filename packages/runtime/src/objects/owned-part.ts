import { decodeJson, deepEqual } from "@setpoint/apimachinery";
/** What of a value belongs to a field manager, by its entry in managedFields. */

/**
 * A node of FieldsV1: `f:` names a field, `k:` an element by its keys, `v:` one by its value, `.` the node
 * itself.
 */
export type OwnedFields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is OwnedFields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The children of a node of FieldsV1 that are nodes. */
export function childOf(fields: OwnedFields | undefined, element: string): OwnedFields | undefined {
  const child = fields?.[element];
  return isFields(child) ? child : undefined;
}

/**
 * The owned part of a value; fields that are owned and not there are left out. A node without children owns
 * all below it.
 */
export function ownedPart(value: unknown, fields: OwnedFields): unknown {
  const elements = Object.keys(fields).filter((element) => element !== ".");
  if (elements.length === 0) return value;
  if (Array.isArray(value)) return value.flatMap((item: unknown) => ownedItem(item, elements, fields));
  if (!isFields(value)) return value;
  const part: Record<string, unknown> = {};
  for (const element of elements) {
    const name = element.slice(2);
    const child = childOf(fields, element);
    if (element.startsWith("f:") && child !== undefined && value[name] !== undefined)
      part[name] = ownedPart(value[name], child);
  }
  return part;
}

function ownedItem(item: unknown, elements: readonly string[], fields: OwnedFields): readonly unknown[] {
  const element = elements.find((each) => names(each, item));
  const child = element === undefined ? undefined : childOf(fields, element);
  return child === undefined ? [] : [ownedPart(item, child)];
}

/** Whether `k:{"type":"Ready"}` or `v:"a"` is this element of a list. */
function names(element: string, item: unknown): boolean {
  const meant = decodeJson(element.slice(2));
  if (element.startsWith("v:")) return deepEqual(meant, item);
  return isFields(meant) && isFields(item) && Object.keys(meant).every((key) => deepEqual(meant[key], item[key]));
}
