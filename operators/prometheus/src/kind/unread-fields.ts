/** Fields that the server keeps and this operator does not read: misspelt ones, or upstream's alone. */
import type { z } from "zod";

/** What of Zod's definition tells which fields a schema declares. */
interface Definition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly element?: z.ZodType;
  readonly innerType?: z.ZodType;
}

/** Their paths below `path`, such as `spec.endpoints[0].prot`. */
export function unreadFields(schema: z.ZodType, value: unknown, path: string): readonly string[] {
  const { type, shape, element, innerType } = schema.def as Definition;
  if (innerType !== undefined) return unreadFields(innerType, value, path);
  if (type === "array" && element !== undefined && Array.isArray(value))
    return value.flatMap((each, index) => unreadFields(element, each, `${path}[${index}]`));
  // One that declares nothing is passed on as it is.
  if (type !== "object" || Object.keys(shape ?? {}).length === 0 || !isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, each]) => {
    const declared = Object.hasOwn(shape ?? {}, name) ? shape?.[name] : undefined;
    return declared === undefined ? [`${path}.${name}`] : unreadFields(declared, each, `${path}.${name}`);
  });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
