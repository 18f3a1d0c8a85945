/** Reads what a server serves: aggregated discovery where there is one, else group by group. */
import type { ApiRequest, ApiResponse } from "@setpoint/apimachinery";
import { parseApiVersion } from "@setpoint/apimachinery";
import { groupVersionPath } from "./resource-path.ts";
import type { RequestOptions } from "./request-options.ts";
import { type DiscoveredResource, RestMapper } from "./rest-mapper.ts";

type Send = (request: ApiRequest, options?: RequestOptions) => Promise<ApiResponse>;

const aggregatedHeaders = {
  accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json",
};

interface AggregatedResource {
  readonly resource: string;
  readonly responseKind?: { readonly kind?: string };
  readonly scope?: string;
  readonly singularResource?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly verbs?: readonly string[];
  readonly subresources?: readonly { readonly subresource: string }[];
}

interface AggregatedGroup {
  readonly metadata?: { readonly name?: string };
  readonly versions?: readonly { readonly version: string; readonly resources?: readonly AggregatedResource[] }[];
}

interface PlainResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced?: boolean;
  readonly singularName?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly verbs?: readonly string[];
}

export async function discover(send: Send, options?: RequestOptions): Promise<RestMapper> {
  const roots = await Promise.all(["/api", "/apis"].map((path) => discoverRoot(send, path, options)));
  return new RestMapper(roots.flat());
}

async function discoverRoot(
  send: Send,
  path: string,
  options?: RequestOptions,
): Promise<readonly DiscoveredResource[]> {
  const answer = await read(send, path, options, aggregatedHeaders);
  if (answer["kind"] === "APIGroupDiscoveryList")
    return (answer["items"] as readonly AggregatedGroup[]).flatMap(ofAggregated);
  const versions = path === "/api" ? coreVersions(answer) : groupVersions(answer);
  const lists = await Promise.all(versions.map((each) => discoverVersion(send, each, options)));
  return lists.flat();
}

function ofAggregated(group: AggregatedGroup): readonly DiscoveredResource[] {
  return (group.versions ?? []).flatMap(({ version, resources }, index) =>
    (resources ?? []).map((each) => ({
      group: group.metadata?.name ?? "",
      version,
      kind: each.responseKind?.kind ?? "",
      plural: each.resource,
      namespaced: each.scope === "Namespaced",
      singular: each.singularResource ?? "",
      shortNames: each.shortNames ?? [],
      categories: each.categories ?? [],
      verbs: each.verbs ?? [],
      subresources: (each.subresources ?? []).map((sub) => sub.subresource),
      // Versions are listed in the server's order of preference.
      preferred: index === 0,
    })),
  );
}

interface ServedVersion {
  readonly groupVersion: string;
  readonly preferred: boolean;
}

function coreVersions(answer: Fields): readonly ServedVersion[] {
  return (answer["versions"] as readonly string[]).map((groupVersion, index) => ({
    groupVersion,
    preferred: index === 0,
  }));
}

function groupVersions(answer: Fields): readonly ServedVersion[] {
  const groups = answer["groups"] as readonly { readonly versions: readonly { readonly groupVersion: string }[] }[];
  return groups.flatMap((group) =>
    group.versions.map(({ groupVersion }, index) => ({ groupVersion, preferred: index === 0 })),
  );
}

async function discoverVersion(
  send: Send,
  served: ServedVersion,
  options?: RequestOptions,
): Promise<readonly DiscoveredResource[]> {
  const names = parseApiVersion(served.groupVersion);
  const answer = await read(send, groupVersionPath(names), options);
  const all = (answer["resources"] ?? []) as readonly PlainResource[];
  return all
    .filter((each) => !each.name.includes("/"))
    .map((each) => ({
      ...names,
      kind: each.kind,
      plural: each.name,
      namespaced: each.namespaced ?? false,
      singular: each.singularName ?? "",
      shortNames: each.shortNames ?? [],
      categories: each.categories ?? [],
      verbs: each.verbs ?? [],
      subresources: all
        .filter(({ name }) => name.startsWith(`${each.name}/`))
        .map(({ name }) => name.slice(each.name.length + 1)),
      preferred: served.preferred,
    }));
}

type Fields = Readonly<Record<string, unknown>>;

async function read(
  send: Send,
  path: string,
  options?: RequestOptions,
  headers?: Record<string, string>,
): Promise<Fields> {
  const response = await send({ method: "GET", path, ...(headers === undefined ? {} : { headers }) }, options);
  // Discovery documents are objects; anything else shows as a group without resources.
  return response.kind === "object" ? (response.object as Fields) : {};
}
