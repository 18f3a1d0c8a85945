/** Levels below an object that paths may reach; it keeps the compiler from walking types without end. */
type Shallower = [never, 0, 1, 2, 3, 4, 5];

/** The dotted paths `spec`, `spec.size`, … of the fields of `T`. Lists and maps of any name end a path. */
export type ObjectPath<T, Depth extends number = 5> = [Depth] extends [never]
  ? never
  : T extends readonly unknown[]
    ? never
    : T extends object
      ? string extends keyof T
        ? never
        : {
            [K in keyof T & string]: K | `${K}.${ObjectPath<NonNullable<T[K]>, Shallower[Depth] & number>}`;
          }[keyof T & string]
      : never;

/** The type of the field at a path; `undefined` is in it when something on the way may be absent. */
export type ValueAt<T, Path extends string> = Path extends `${infer Head}.${infer Rest}`
  ? Head extends keyof T
    ? ValueAt<NonNullable<T[Head]>, Rest> | (undefined extends T[Head] ? undefined : never)
    : unknown
  : Path extends keyof T
    ? T[Path]
    : unknown;

/** The field's value; undefined when something on the way is absent. */
export function valueAt(object: unknown, path: string): unknown {
  let value: unknown = object;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
  }
  return value;
}
