import type { HttpMethod } from "@setpoint/apimachinery";
import type { RequestAttributes } from "./request-attributes.ts";
import { booleanParameter, parameter, type Query } from "./query-parameters.ts";

export type RequestInfo = Omit<RequestAttributes, "user">;

const verbOfMethod: Readonly<Record<HttpMethod, string>> = {
  GET: "get",
  HEAD: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
  // As upstream: a request through a proxy may have it, and it needs every right.
  OPTIONS: "",
};

/** What a path and method ask for; the grammar of upstream's RequestInfo, without regular expressions. */
export function parseRequestInfo(method: HttpMethod, path: string, query: Query | undefined): RequestInfo {
  const parts = splitPath(path);
  const prefixLength = parts[0] === "api" ? 1 : parts[0] === "apis" ? 2 : 0;
  // Discovery paths (`/api/v1`, `/apis/apps/v1`) end before a resource is named.
  if (prefixLength === 0 || parts.length < prefixLength + 2) return nonResource(method, path);
  const group = prefixLength === 1 ? "" : (parts[1] ?? "");
  const version = parts[prefixLength] ?? "";
  let verb = verbOfMethod[method];
  let rest = parts.slice(prefixLength + 1);
  // The path of old clients only reads: of what another method does there, `watch` would be the wrong right
  // to ask for.
  if (rest[0] === "watch" && rest.length > 1 && verb === "get") {
    verb = "watch";
    rest = rest.slice(1);
  }
  const { namespace, resource, name, subresource } = target(rest);
  if (name === "" && verb === "get") verb = booleanParameter(query, "watch") ? "watch" : "list";
  else if (name === "" && verb === "delete") verb = "deletecollection";
  else if (verb === "get" && subresource === "" && booleanParameter(query, "watch")) verb = "watch";
  const info = { verb, isResourceRequest: true, path, group, version, resource, subresource, namespace, name };
  if (name !== "" || (verb !== "list" && verb !== "watch" && verb !== "deletecollection")) return info;
  const fieldSelector = parameter(query, "fieldSelector");
  if (fieldSelector === "") return info;
  return { ...info, name: nameInFieldSelector(fieldSelector), fieldSelector };
}

/** The segments of a path, decoded; empty ones are dropped. */
function splitPath(path: string): string[] {
  const parts: string[] = [];
  const isEncoded = path.includes("%");
  for (let start = 0, end = 0; start < path.length; start = end + 1) {
    const slash = path.indexOf("/", start);
    end = slash === -1 ? path.length : slash;
    if (end === start) continue;
    const part = path.slice(start, end);
    parts.push(isEncoded ? decodeSegment(part) : part);
  }
  return parts;
}

function decodeSegment(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

interface Target {
  readonly namespace: string;
  readonly resource: string;
  readonly name: string;
  readonly subresource: string;
}

function target(parts: readonly string[]): Target {
  const [first = "", second = "", third = ""] = parts;
  const isOfNamespace = third === "" || third === "status" || third === "finalize";
  if (first === "namespaces" && second !== "" && !isOfNamespace) {
    return { namespace: second, resource: third, name: parts[3] ?? "", subresource: parts[4] ?? "" };
  }
  // For authorization, a Namespace object is in its own namespace.
  const namespace = first === "namespaces" ? second : "";
  return { namespace, resource: first, name: second, subresource: third };
}

function nonResource(method: HttpMethod, path: string): RequestInfo {
  const verb = verbOfMethodForPaths(method);
  const nothing = { group: "", version: "", resource: "", subresource: "", namespace: "", name: "" };
  return { verb, isResourceRequest: false, path, ...nothing };
}

/** For non-resource paths the verb is the method itself. */
function verbOfMethodForPaths(method: HttpMethod): string {
  return method.toLowerCase();
}

const nameSelector = "metadata.name=";

/** A collection request that selects one name is authorized as if it named the object. */
function nameInFieldSelector(selector: string): string {
  if (!selector.includes(nameSelector)) return "";
  for (const requirement of selector.split(",")) {
    if (!requirement.startsWith(nameSelector)) continue;
    const value = requirement.slice(nameSelector.length);
    return value.startsWith("=") ? value.slice(1) : value;
  }
  return "";
}
