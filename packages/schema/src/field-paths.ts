/** Types over the shapes that zod infers: readonly all the way down, and the dotted paths of their fields. */

/** Objects from a cache or a server are never changed in place. */
export type DeepReadonly<T> = T extends (...args: never) => unknown
  ? T
  : T extends readonly (infer E)[]
    ? readonly DeepReadonly<E>[]
    : T extends object
      ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
      : T;

/**
 * Levels below a spec or status that paths may reach; it keeps the compiler from walking types without end.
 */
type Shallower = [never, 0, 1, 2, 3, 4, 5];

/**
 * The paths `a`, `a.b`, … of the fields of `T`. Lists end a path, because printer columns cannot look into
 * them by name.
 */
export type FieldPath<T, Depth extends number = 6> = [Depth] extends [never]
  ? never
  : T extends readonly unknown[]
    ? never
    : T extends object
      ? {
          [K in keyof T & string]: K | `${K}.${FieldPath<NonNullable<T[K]>, Shallower[Depth] & number>}`;
        }[keyof T & string]
      : never;
