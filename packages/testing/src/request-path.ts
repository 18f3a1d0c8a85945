/** What the path of a request is about. Few paths are asked again and again, in one world as in the next. */

export interface PathFacts {
  /** Without group, version and the word `namespaces`: `default/pods`, `default/pods/web-0/status`. */
  readonly object: string;
  /** `pods` of `/api/v1/namespaces/a/pods` and of `/api/v1/pods/…`. */
  readonly resource: string;
}

const known = new Map<string, PathFacts>();
const knownMax = 1_000;

export function readPath(path: string): PathFacts {
  let facts = known.get(path);
  if (facts !== undefined) return facts;
  facts = factsOf(path);
  if (known.size >= knownMax) known.clear();
  known.set(path, facts);
  return facts;
}

export function resourceOf(path: string): string {
  return readPath(path).resource;
}

function factsOf(path: string): PathFacts {
  const [, root, ...words] = path.split("/");
  // A group and a version, or a version alone.
  const isComplete = (root === "api" && words.length >= 1) || (root === "apis" && words.length >= 2);
  const below = words.slice(root === "api" ? 1 : 2);
  const isInNamespace = below[0] === "namespaces" && below.length > 2;
  if (isInNamespace) below.shift();
  return { object: isComplete ? below.join("/") : path, resource: (isInNamespace ? below[1] : below[0]) ?? "" };
}
