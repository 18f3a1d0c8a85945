/**
 * What a server reports about itself: discovery in both forms, OpenAPI, its version, its health and its
 * paths. It computes a document at the first request for it, and recomputes it only after the registry has
 * changed.
 */
import type { ApiRequest, ApiResponse } from "@setpoint/apimachinery";
import type { Clock } from "@setpoint/host";
import type { Endpoint, EndpointTable } from "../../registry/endpoint.ts";
import type { Registry } from "../../registry/registry.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import type { DiscoveredResource, ExtensionCatalog } from "../../aggregation/extension-catalog.ts";
import { type Aggregated, aggregatedContentType, aggregatedDocument, negotiateDiscovery } from "./aggregated.ts";
import { matchesEtag } from "./etag.ts";
import { listServedGroups, type ServedGroup } from "./group-list.ts";
import {
  answerCheck,
  answerHealth,
  checksOf,
  type HealthCheck,
  type HealthEndpoint,
  healthEndpoints,
} from "./health.ts";
import { OpenApiDocuments } from "./openapi-documents.ts";
import { answerOpenApiDocument, answerOpenApiIndex, answerOpenApiV2 } from "./openapi-endpoints.ts";
import { emptyResponse, notAcceptable, objectResponse } from "./response.ts";
import { SwaggerDocument } from "./swagger/swagger-document.ts";
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from "./unaggregated.ts";

/** The response of `GET /version`. */
export interface ServerVersion {
  readonly major: string;
  readonly minor: string;
  readonly emulationMajor: string;
  readonly emulationMinor: string;
  readonly minCompatibilityMajor: string;
  readonly minCompatibilityMinor: string;
  readonly gitVersion: string;
  readonly gitCommit: string;
  readonly gitTreeState: string;
  readonly buildDate: string;
  readonly goVersion: string;
  readonly compiler: string;
  readonly platform: string;
}

/**
 * The version of the API that is offered; what concerns a build in Go has the values that clients can parse.
 */
export const serverVersion: ServerVersion = {
  major: "1",
  minor: "36",
  emulationMajor: "1",
  emulationMinor: "36",
  minCompatibilityMajor: "1",
  minCompatibilityMinor: "35",
  gitVersion: "v1.36.3",
  gitCommit: "0000000000000000000000000000000000000000",
  gitTreeState: "clean",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "go1.26.0",
  compiler: "gc",
  platform: "linux/amd64",
};

/** What the discovery, OpenAPI, version and health endpoints report on. */
export interface DiscoveryOptions {
  readonly registry: Registry;
  readonly clock: Clock;
  /** The server's `host:port` that `/api` reports; read at each request. */
  readonly serverAddress?: () => string;
  readonly healthChecks?: readonly HealthCheck[];
  readonly version?: ServerVersion;
  /** Paths of other endpoints, for the list at `/`. */
  readonly otherPaths?: readonly string[];
  /** What extension servers serve beside the registry. */
  readonly extensions?: ExtensionCatalog;
}

/**
 * The endpoints as a table that looks its entries up when asked, so groups of CRDs come and go. Copying its
 * entries would freeze them: ask this table itself.
 */
export function createDiscoveryEndpoints(options: DiscoveryOptions): EndpointTable {
  return new DiscoveryTable(options);
}

class DiscoveryTable extends Map<string, Endpoint> {
  readonly #options: DiscoveryOptions;
  readonly #documents: OpenApiDocuments;
  readonly #swagger: SwaggerDocument;
  readonly #version: ServerVersion;
  #definitions: readonly ResourceDefinition[] | undefined;
  #extensions: readonly DiscoveredResource[] = [];
  #groups: readonly ServedGroup[] = [];
  readonly #aggregated = new Map<"/api" | "/apis", Aggregated>();

  constructor(options: DiscoveryOptions) {
    super();
    this.#options = options;
    this.#version = options.version ?? serverVersion;
    const version = `${this.#version.major}.${this.#version.minor}`;
    this.#documents = new OpenApiDocuments(options.registry, version);
    this.#swagger = new SwaggerDocument(this.#documents, options.clock, version);
  }

  override get(key: string): Endpoint | undefined {
    if (!key.startsWith("GET /")) return undefined;
    const path = key.length > 5 && key.endsWith("/") ? key.slice(4, -1) : key.slice(4);
    return this.#fixed(path) ?? this.#health(path) ?? this.#openApi(path) ?? this.#group(path);
  }

  override has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  #fixed(path: string): Endpoint | undefined {
    switch (path) {
      case "/":
        return async () => objectResponse({ paths: this.#paths() });
      case "/version":
        return async () => objectResponse(this.#version);
      case "/api":
        return async ({ request }) => this.#answerRoot("/api", request, () => apiVersions(this.#serverAddress()));
      case "/apis":
        return async ({ request }) => this.#answerRoot("/apis", request, () => apiGroupList(this.#current()));
      case "/openapi/v2":
        return ({ request }) => answerOpenApiV2(this.#swagger, request);
      case "/openapi/v3":
        return async () => answerOpenApiIndex(this.#documents, this.#options.extensions?.documents);
      default:
        return undefined;
    }
  }

  #serverAddress(): string {
    return this.#options.serverAddress?.() ?? "127.0.0.1:6443";
  }

  #health(path: string): Endpoint | undefined {
    const [, first = "", ...rest] = path.split("/");
    if (!(healthEndpoints as readonly string[]).includes(first)) return undefined;
    // The line above made sure that it is one of them.
    const endpoint = first as HealthEndpoint;
    const checks = checksOf(endpoint, this.#options.healthChecks ?? []);
    if (rest.length === 0) return async ({ request }) => answerHealth(endpoint, checks, request);
    const check = checks.find((each) => each.name === rest.join("/"));
    return check === undefined ? undefined : async () => answerCheck(check);
  }

  #openApi(path: string): Endpoint | undefined {
    const prefix = "/openapi/v3/";
    if (!path.startsWith(prefix)) return undefined;
    const key = path.slice(prefix.length);
    if (this.#documents.hash(key) === undefined) return undefined;
    return async ({ request }) => answerOpenApiDocument(this.#documents, key, request, this.#options.clock.now());
  }

  #group(path: string): Endpoint | undefined {
    const [, root, ...rest] = path.split("/");
    if (root !== "api" && root !== "apis") return undefined;
    const [group = "", version, ...deeper] = root === "api" ? ["", ...rest] : rest;
    if (deeper.length > 0) return undefined;
    const served = this.#current().find((each) => each.group === group);
    if (served === undefined) return undefined;
    if (version === undefined) return async () => objectResponse(apiGroup(served));
    const found = served.versions.find((each) => each.version === version);
    return found === undefined ? undefined : async () => objectResponse(apiResourceList(group, found));
  }

  #answerRoot(path: "/api" | "/apis", request: ApiRequest, plain: () => unknown): ApiResponse {
    const form = negotiateDiscovery(request);
    if (form === "none") throw notAcceptable();
    if (form === "plain") return objectResponse(plain());
    const { body, etag } = this.#aggregate(path);
    const headers = { "content-type": aggregatedContentType, etag, vary: "Accept", "cache-control": "public" };
    if (matchesEtag(request.headers?.["if-none-match"], etag)) return emptyResponse(304, headers);
    return objectResponse(body, headers);
  }

  #aggregate(path: "/api" | "/apis"): Aggregated {
    const groups = this.#current();
    let made = this.#aggregated.get(path);
    if (made === undefined) {
      made = aggregatedDocument(groups.filter(({ group }) => (group === "") === (path === "/api")));
      this.#aggregated.set(path, made);
    }
    return made;
  }

  #current(): readonly ServedGroup[] {
    const { definitions } = this.#options.registry;
    const extensions = this.#options.extensions?.resources ?? this.#extensions;
    if (definitions !== this.#definitions || extensions !== this.#extensions) {
      this.#groups = listServedGroups([...definitions, ...extensions]);
      this.#aggregated.clear();
      this.#definitions = definitions;
      this.#extensions = extensions;
    }
    return this.#groups;
  }

  #paths(): readonly string[] {
    const paths = ["/api", "/apis", "/apis/", "/openapi/v2", "/openapi/v3", "/openapi/v3/", "/version"];
    for (const { group, versions } of this.#current()) {
      if (group !== "") paths.push(`/apis/${group}`);
      for (const { version } of versions) paths.push(group === "" ? `/api/${version}` : `/apis/${group}/${version}`);
    }
    for (const endpoint of healthEndpoints) {
      const checks = checksOf(endpoint, this.#options.healthChecks ?? []);
      paths.push(`/${endpoint}`, ...checks.map((each) => `/${endpoint}/${each.name}`));
    }
    return [...new Set([...paths, ...(this.#options.otherPaths ?? [])])].toSorted();
  }
}
