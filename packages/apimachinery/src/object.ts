/**
 * The shapes every object of the Kubernetes API shares. Field names and nesting are those of the wire; times
 * are RFC 3339 strings and 64-bit numbers that may leave the safe range (resourceVersion) are decimal
 * strings, as on the wire.
 */

/** Group, version and kind; the core group is the empty string. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Group, version and the plural resource name, as in a URL. */
export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** The name of an object within its kind; the namespace is absent for cluster-scoped kinds. */
export interface NamespacedName {
  readonly namespace?: string;
  readonly name: string;
}

/**
 * A reference to an owner in the same namespace or to a cluster-scoped one; the garbage collector compares
 * the uid.
 */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/**
 * Who owns which fields (server-side apply); `fieldsV1` is the FieldsV1 tree of `f:`, `k:`, `v:` and `i:`
 * keys.
 */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: "Apply" | "Update";
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: "FieldsV1";
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
  readonly subresource?: string;
}

/**
 * The metadata of every object (meta/v1 ObjectMeta). The server sets uid, resourceVersion, generation and the
 * times.
 */
export interface ObjectMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string | null;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
  readonly selfLink?: string;
}

/**
 * Any object of the API. Kinds add their own fields; an index signature is left out on purpose, so that typos
 * show.
 */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** An object whose fields are not known statically. */
export interface UnstructuredObject extends KubeObject {
  readonly [field: string]: unknown;
}

/** The metadata of a list; `continue` is the token for its next page, absent on the last one. */
export interface ListMeta {
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
  /** Set when the list is a shard, with the shard's selector: it does not contain all objects. */
  readonly shardInfo?: { readonly selector: string };
}

/** One page of a list. All items show the state at `metadata.resourceVersion`. */
export interface KubeList<T extends KubeObject = UnstructuredObject> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ListMeta;
  readonly items: readonly T[];
}

/** A condition as the API conventions define it (meta/v1 Condition). */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

/** `apps/v1`, or `v1` for the core group. */
export function apiVersionOf(gv: { readonly group: string; readonly version: string }): string {
  return gv.group === "" ? gv.version : `${gv.group}/${gv.version}`;
}

/** Splits `apps/v1` or `v1`. */
export function parseApiVersion(apiVersion: string): { readonly group: string; readonly version: string } {
  const slash = apiVersion.indexOf("/");
  if (slash === -1) return { group: "", version: apiVersion };
  return { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/** The group, version and kind of an object; the core group is the empty string. */
export function gvkOf(object: { readonly apiVersion: string; readonly kind: string }): GroupVersionKind {
  return { ...parseApiVersion(object.apiVersion), kind: object.kind };
}

/** `deployments.apps`, or `pods` for the core group: the form of messages and CRD names. */
export function groupResource(gr: { readonly group: string; readonly resource: string }): string {
  return gr.group === "" ? gr.resource : `${gr.resource}.${gr.group}`;
}
