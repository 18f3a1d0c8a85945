/** The JSON patch between two values; lists that differ are replaced as a whole. */
import { deepEqual, isJsonObject, type JsonPatchOperation } from "@setpoint/apimachinery";

export function jsonDifference(before: unknown, after: unknown, path = ""): readonly JsonPatchOperation[] {
  if (deepEqual(before, after)) return [];
  if (!isJsonObject(before) || !isJsonObject(after)) return [{ op: "replace", path, value: after }];
  const operations: JsonPatchOperation[] = [];
  for (const key of Object.keys(before)) {
    if (after[key] === undefined) operations.push({ op: "remove", path: `${path}/${escaped(key)}` });
  }
  for (const [key, value] of Object.entries(after)) {
    if (value === undefined) continue;
    const at = `${path}/${escaped(key)}`;
    if (Object.hasOwn(before, key)) operations.push(...jsonDifference(before[key], value, at));
    else operations.push({ op: "add", path: at, value });
  }
  return operations;
}

function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
