/** What the path of a request is about. */

export interface PathFacts {
  /** Without group, version and the word `namespaces`: `default/pods`, `default/pods/web-0/status`. */
  readonly object: string;
  /** `pods` of `/api/v1/namespaces/a/pods` and of `/api/v1/pods/…`. */
  readonly resource: string;
}

const namespaces = "namespaces/";

/** Reads a path without taking it apart: most are new, since the names in them are. */
export function readPath(path: string): PathFacts {
  const start = afterVersion(path);
  if (start === -1) return { object: path, resource: "" };
  const isInNamespace = path.startsWith(namespaces, start) && path.includes("/", start + namespaces.length);
  const from = isInNamespace ? start + namespaces.length : start;
  const at = isInNamespace ? path.indexOf("/", from) + 1 : start;
  const end = path.indexOf("/", at);
  return { object: path.slice(from), resource: end === -1 ? path.slice(at) : path.slice(at, end) };
}

export function resourceOf(path: string): string {
  return readPath(path).resource;
}

/**
 * Where the names begin: behind the version of `/api/v1/…`, or group and version of `/apis/apps/v1/…`; -1 of
 * any other path.
 */
function afterVersion(path: string): number {
  if (path.startsWith("/api/")) return afterWord(path, "/api/".length);
  if (!path.startsWith("/apis/")) return -1;
  const slash = path.indexOf("/", "/apis/".length);
  return slash === -1 ? -1 : afterWord(path, slash + 1);
}

function afterWord(path: string, from: number): number {
  const slash = path.indexOf("/", from);
  return slash === -1 ? path.length : slash + 1;
}
