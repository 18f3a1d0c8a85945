/** A kind as a value: what it is called, where it lives, and a builder of its objects. */
import { apiVersionOf, type KubeObject, type ObjectMeta } from "./object.ts";

/** What the API calls a kind and where its objects live. */
export interface KindNames {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** The resource in a URL: `pods`. */
  readonly plural: string;
  readonly namespaced: boolean;
}

/** Metadata that an author writes; the rest of ObjectMeta is the server's. */
export interface ObjectInitMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: ObjectMeta["ownerReferences"];
}

/**
 * The argument of a kind's builder: metadata flattened beside the kind's own fields; status is the
 * controller's.
 */
export type ObjectInit<T extends KubeObject> = ObjectInitMeta & Omit<T, "apiVersion" | "kind" | "metadata" | "status">;

/**
 * A kind of objects of type `T`. Calling it builds an object: `Pod({ name: "web-0", spec })`.
 */
export interface Kind<T extends KubeObject> extends KindNames {
  (init: ObjectInit<T>): T;
  readonly apiVersion: string;
  /** Carries `T` for `ObjectOf`; never set. */
  readonly objectType?: T;
}

/** The type of a kind's objects. */
export type ObjectOf<K> = K extends Kind<infer T> ? T : never;

/**
 * A kind whose builder only arranges the fields; `defineKind` of the schema package makes kinds that also
 * check.
 */
export function createKind<T extends KubeObject>(names: KindNames): Kind<T> {
  const apiVersion = apiVersionOf(names);
  const build = (init: ObjectInit<T>): T => arrange<T>(apiVersion, names.kind, init);
  // `name` of a function is read-only, so the properties are defined instead of assigned.
  const properties = { ...names, apiVersion };
  for (const [key, value] of Object.entries(properties)) Object.defineProperty(build, key, { value, enumerable: true });
  return build as Kind<T>;
}

const metadataFields: ReadonlySet<string> = new Set([
  "name",
  "generateName",
  "namespace",
  "labels",
  "annotations",
  "finalizers",
  "ownerReferences",
]);

/** Moves the metadata fields of an init under `metadata`. */
export function arrange<T extends KubeObject>(apiVersion: string, kind: string, init: ObjectInit<T>): T {
  const metadata: Record<string, unknown> = {};
  const rest: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(init)) (metadataFields.has(field) ? metadata : rest)[field] = value;
  // The fields of `rest` are those of T by the type of `init`.
  return { apiVersion, kind, metadata, ...rest } as unknown as T;
}
