import type { KindNames, NamespacedName } from "@setpoint/apimachinery";

/** `/api/v1` or `/apis/apps/v1`. */
export function groupVersionPath(gv: { readonly group: string; readonly version: string }): string {
  return gv.group === "" ? `/api/${gv.version}` : `/apis/${gv.group}/${gv.version}`;
}

/** The path of a collection: of one namespace, or of all when `namespace` is absent. */
export function collectionPath(kind: KindNames, namespace?: string): string {
  const base = groupVersionPath(kind);
  if (!kind.namespaced || namespace === undefined) return `${base}/${kind.plural}`;
  return `${base}/namespaces/${encodeURIComponent(namespace)}/${kind.plural}`;
}

/** The path of one object; a namespaced object without a namespace lives in "default". */
export function objectPath(kind: KindNames, key: NamespacedName, subresource?: string): string {
  const collection = collectionPath(kind, kind.namespaced ? (key.namespace ?? "default") : undefined);
  const path = `${collection}/${encodeURIComponent(key.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}
