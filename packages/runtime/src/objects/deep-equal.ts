type Fields = Readonly<Record<string, unknown>>;

/** Whether two JSON values are equal; the order of keys does not matter, and a key that is undefined counts as absent. */
export function isDeepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) return areEqualLists(a, b);
  return areEqualMaps(a as Fields, b as Fields);
}

function areEqualLists(a: object, b: object): boolean {
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  return a.every((each, index) => isDeepEqual(each, b[index]));
}

function areEqualMaps(a: Fields, b: Fields): boolean {
  for (const key in a) if (a[key] !== undefined && !isDeepEqual(a[key], b[key])) return false;
  for (const key in b) if (b[key] !== undefined && a[key] === undefined) return false;
  return true;
}
