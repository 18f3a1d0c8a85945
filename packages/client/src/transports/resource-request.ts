import type { ApiRequest } from "@setpoint/apimachinery";

/** What a request is for the server's authorizer: a verb on a resource. */
export interface ResourceRequest {
  readonly verb: "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** Empty when it is the object itself. */
  readonly subresource: string;
  /** Empty for all namespaces, and for resources without. */
  readonly namespace: string;
  /** Empty for collections. */
  readonly name: string;
}

/** Undefined for paths that are no resource: discovery, health, version. */
export function parseResourceRequest(request: ApiRequest): ResourceRequest | undefined {
  const [, root, ...names] = request.path.split("/");
  if (root !== "api" && root !== "apis") return undefined;
  const segments = request.path.includes("%") ? names.map(decodeSegment) : names;
  const [group, version] = root === "api" ? ["", segments[0]] : segments;
  const rest = segments.slice(root === "api" ? 1 : 2);
  if (group === undefined || version === undefined || rest.length === 0) return undefined;
  const place = placeOf(rest);
  return { ...place, group, version, verb: verbOf(request, place.name) };
}

function placeOf(rest: readonly string[]): Pick<ResourceRequest, "resource" | "subresource" | "namespace" | "name"> {
  const isInNamespace = rest[0] === "namespaces" && rest.length > 2 && !namespaceSubresources.has(rest[2] ?? "");
  const [resource = "", name = "", ...more] = isInNamespace ? rest.slice(2) : rest;
  return { resource, name, subresource: more.join("/"), namespace: isInNamespace ? (rest[1] ?? "") : "" };
}

/** `/api/v1/namespaces/x/status` is of the Namespace, `/api/v1/namespaces/x/pods` of its pods. */
const namespaceSubresources: ReadonlySet<string> = new Set(["status", "finalize"]);

function verbOf({ method, query }: ApiRequest, name: string): ResourceRequest["verb"] {
  switch (method) {
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return name === "" ? "deletecollection" : "delete";
    case "GET":
    case "OPTIONS":
    case "HEAD":
      if (name !== "") return "get";
      return isWatchQuery(query?.["watch"]) ? "watch" : "list";
  }
}

function isWatchQuery(watch: string | readonly string[] | undefined): boolean {
  return watch === "1" || watch === "true";
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
