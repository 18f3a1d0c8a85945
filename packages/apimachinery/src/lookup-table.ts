/**
 * A table that is indexed by text which a client chooses. It inherits nothing, so `constructor` and
 * `toString` are not found in it.
 */
export function lookupTable<T>(entries: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.freeze(Object.assign(Object.create(null) as Record<string, T>, entries));
}
