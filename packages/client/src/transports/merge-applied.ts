import { isJsonObject } from "@setpoint/apimachinery";

/**
 * What an apply makes of an object, as far as it can be known without the server's schema and without who
 * owns what: the applied fields win, items of lists are the same when they have the same name. What an
 * earlier apply had and this one has not stays.
 */
export function mergeApplied(present: unknown, applied: unknown): unknown {
  if (isJsonObject(present) && isJsonObject(applied)) {
    const fields = Object.entries(applied).map(([key, value]) => [key, mergeApplied(present[key], value)]);
    return { ...present, ...Object.fromEntries(fields) };
  }
  if (!isNamedList(present) || !isNamedList(applied)) return applied;
  const wanted = new Map(applied.map((item) => [nameOf(item), item]));
  const kept = present.map((item) => {
    const own = wanted.get(nameOf(item));
    wanted.delete(nameOf(item));
    return own === undefined ? item : mergeApplied(item, own);
  });
  return [...kept, ...wanted.values()];
}

function isNamedList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => nameOf(item) !== undefined);
}

/** The keys by which the API's lists of objects are merged. */
function nameOf(item: unknown): string | undefined {
  if (!isJsonObject(item)) return undefined;
  for (const key of ["name", "uid", "type", "containerPort", "mountPath", "port", "ip"]) {
    const value = item[key];
    if (typeof value === "string" || typeof value === "number") return `${key} ${value}`;
  }
  return undefined;
}
