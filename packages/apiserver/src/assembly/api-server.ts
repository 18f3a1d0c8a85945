/**
 * Handles a request: authorizes it, finds the resource and the operation of the registry, and shapes the
 * response.
 */
import {
  type ApiRequest,
  type ApiResponse,
  apiVersionOf,
  isJsonObject,
  type JsonObject,
  type Transport,
  type UserInfo,
} from "@setpoint/apimachinery";
import type { Host } from "@setpoint/host";
import type { AdmissionPlugin } from "../registry/admission-plugin.ts";
import type { ObjectReader } from "../registry/object-reader.ts";
import { forbidden } from "../auth/forbidden-message.ts";
import type { Endpoint, EndpointTable } from "../registry/endpoint.ts";
import { KeyedMutex } from "../registry/keyed-mutex.ts";
import { Registry } from "../registry/registry.ts";
import { type ApiServerFeatures, type RegistryContext, ResourceViews } from "../registry/registry-context.ts";
import type { Authorizer, RequestAttributes } from "../request/request-attributes.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import { serveResource, type ServerParts } from "./serve-resource.ts";
import { StoredObjectReader } from "../registry/stored-object-reader.ts";
import {
  type BodyDecoder,
  type DecodedBody,
  type DecodeYaml,
  decodeBody,
  decodeYamlHere,
} from "../request/body-decoder.ts";
import type { BodySubject } from "../request/body-subject.ts";
import { parseRequestInfo } from "../request/request-info.ts";
import { unknownResource } from "../response/api-errors.ts";
import { errorResponse, pageNotFound } from "../response/responses.ts";
import { Warnings } from "../response/warnings.ts";
import type { Storage } from "../storage/storage.ts";
import { WatchSet } from "../watch/watch-set.ts";
import { admitConnection } from "../write/admit-connection.ts";

/** What an API server is built from. The caller opens and closes the storage. */
export interface ApiServerOptions {
  readonly host: Host;
  readonly storage: Storage;
  readonly builtin: readonly ResourceDefinition[];
  /** Absent: every request is allowed. */
  readonly authorizer?: Authorizer;
  readonly admission?: readonly AdmissionPlugin[];
  readonly endpoints?: EndpointTable;
  readonly features?: ApiServerFeatures;
  /**
   * Bytes of events that one watch may hold for a reader that does not read; counted when the storage counts
   * bytes.
   */
  readonly watchBytesMax?: number;
}

const neverAborted = new AbortController().signal;

/**
 * A Kubernetes API server without a network.
 *
 * Guarantees: `handle` resolves for every request, with a Status for every error; a bug is a 500 and a line
 * in the log. Objects in answers are deeply frozen and shared with the store.
 * Errors: `handle` rejects only when the signal of a waiting request aborts.
 */
export class ApiServer implements AsyncDisposable {
  readonly host: Host;
  readonly storage: Storage;
  readonly registry: Registry;
  readonly reader: ObjectReader;
  /** Decoders of further media types of bodies: `application/vnd.kubernetes.protobuf`. */
  readonly bodyDecoders: Map<string, BodyDecoder> = new Map();
  /** Decodes YAML; at once unless it is set. */
  decodeYaml: DecodeYaml = decodeYamlHere;
  /** Answers requests that belong to extension servers, after authorization; undefined for all others. */
  forward: ((request: ApiRequest, user: UserInfo, signal: AbortSignal) => Promise<ApiResponse> | undefined) | undefined;
  readonly #authorizers: Authorizer[] = [];
  readonly #admission: AdmissionPlugin[];
  readonly #endpoints: EndpointTable[] = [];
  /**
   * The resources and subresources that have endpoints. Most requests have none, and skip building the lookup
   * key.
   */
  readonly #endpointNames = new Set<string>();
  readonly #watches = new WatchSet();
  readonly #parts: ServerParts;
  #isClosed = false;

  constructor(options: ApiServerOptions) {
    const { host, storage, builtin, authorizer, admission = [], endpoints, features = {} } = options;
    this.host = host;
    this.storage = storage;
    this.registry = new Registry(builtin);
    const views = new ResourceViews();
    this.reader = new StoredObjectReader(storage, this.registry, views);
    this.#admission = [...admission];
    if (authorizer !== undefined) this.#authorizers.push(authorizer);
    if (endpoints !== undefined) this.addEndpoints(endpoints);
    const context: RegistryContext = {
      host,
      storage,
      reader: this.reader,
      admission: this.#admission,
      features,
      watchBytesMax: options.watchBytesMax ?? Infinity,
      retries: new KeyedMutex(),
      view: (definition) => views.get(definition),
      authorize: (attributes) => this.#authorize(attributes),
    };
    this.#parts = { context, watches: this.#watches };
  }

  /** Adds endpoints of other parts; the first table that has an entry answers. */
  addEndpoints(table: EndpointTable): void {
    this.#endpoints.push(table);
    for (const key of table.keys()) this.#endpointNames.add(key.slice(key.lastIndexOf("/") + 1));
  }

  /** Adds plugins that need the server's own reader; they run after those given before. */
  addAdmission(...plugins: readonly AdmissionPlugin[]): void {
    this.#admission.push(...plugins);
  }

  /** Sets the authorizer when it needs the server's own reader, so that it could not be an option. */
  setAuthorizer(authorizer: Authorizer): void {
    this.#authorizers.splice(0, 1, authorizer);
  }

  /** The authorizer that is set at the time of a request; without one it allows everything. */
  readonly authorizer: Authorizer = {
    authorize: (attributes) => this.#authorizers[0]?.authorize(attributes) ?? { allowed: true },
  };

  /** Ends the open watches of a resource, so that clients list again (its CRD has changed). */
  endWatches(resource: { readonly group: string; readonly resource: string }): void {
    this.#watches.end(resource);
  }

  /** In-process requests as one user. */
  transport(user: UserInfo): Transport {
    return { send: (request, signal) => this.handle(request, user, signal ?? neverAborted) };
  }

  /** Throws the 403 that `handle` would answer; the body does not matter. */
  admit(request: ApiRequest, user: UserInfo): void {
    this.#authorize({ ...parseRequestInfo(request.method, request.path, request.query), user });
  }

  /**
   * Throws the refusal of an admission plugin for a connection by a subresource: `exec`, `attach`,
   * `portforward`, `proxy`. It is authorized already.
   */
  async admitConnection(attributes: RequestAttributes, options: JsonObject): Promise<void> {
    const { group, version, resource } = attributes;
    const definition = this.registry.find(group, version, resource);
    if (definition === undefined) throw unknownResource();
    await admitConnection(this.#parts.context, definition, attributes, options);
  }

  async handle(request: ApiRequest, user: UserInfo, signal: AbortSignal): Promise<ApiResponse> {
    signal.throwIfAborted();
    const warnings = new Warnings();
    try {
      return await this.#answer(request, user, signal, warnings);
    } catch (error) {
      // The client is gone, so the error is only the caller's abort reason.
      if (signal.aborted && error === signal.reason) throw error;
      return errorResponse(error, this.host.log, request.path, warnings);
    }
  }

  /** Ends all watches. The storage stays open: the caller that opened it closes it. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#watches.endAll();
  }

  async #answer(request: ApiRequest, user: UserInfo, signal: AbortSignal, warnings: Warnings): Promise<ApiResponse> {
    const attributes: RequestAttributes = { ...parseRequestInfo(request.method, request.path, request.query), user };
    this.#authorize(attributes);
    const endpoint = this.#endpoint(request, attributes);
    if (endpoint !== undefined) return this.#callEndpoint(endpoint, request, attributes, signal);
    const forwarded = this.forward?.(request, user, signal);
    if (forwarded !== undefined) return forwarded;
    if (!attributes.isResourceRequest) return pageNotFound();
    const { group, version, resource } = attributes;
    const definition = this.registry.find(group, version, resource);
    if (definition === undefined) {
      if (!this.registry.hasGroupVersion(group, version)) return pageNotFound();
      throw unknownResource();
    }
    const decode = (): Promise<DecodedBody> => this.#decode(request, subjectOf(definition, attributes));
    return serveResource(this.#parts, { request, user, attributes, definition, warnings, signal }, decode);
  }

  #decode(request: ApiRequest, subject?: BodySubject): Promise<DecodedBody> {
    return decodeBody(request, this.bodyDecoders, this.decodeYaml, subject);
  }

  #authorize(attributes: RequestAttributes): void {
    const { allowed, reason } = this.authorizer.authorize(attributes);
    if (!allowed) throw forbidden(attributes, reason);
  }

  #endpoint(request: ApiRequest, attributes: RequestAttributes): Endpoint | undefined {
    const { isResourceRequest, resource, subresource, verb } = attributes;
    // None of them watches: they do what other verbs are asked for.
    if (verb === "watch") return undefined;
    if (isResourceRequest && !this.#endpointNames.has(subresource === "" ? resource : subresource)) return undefined;
    const method = request.method === "HEAD" ? "GET" : request.method;
    const key = `${method} ${endpointPath(attributes)}`;
    for (const table of this.#endpoints) {
      const endpoint = table.get(key);
      if (endpoint !== undefined) return endpoint;
    }
    return undefined;
  }

  async #callEndpoint(
    endpoint: Endpoint,
    request: ApiRequest,
    attributes: RequestAttributes,
    signal: AbortSignal,
  ): Promise<ApiResponse> {
    // What goes through a proxy is read by the program behind it.
    if (attributes.subresource === "proxy") {
      await this.admitConnection(attributes, { path: proxiedPath(request.path) });
      return endpoint({ request, attributes, body: undefined, signal });
    }
    const { value } = await this.#decode(request);
    const body = isJsonObject(value) ? value : undefined;
    return endpoint({ request, attributes, body, signal });
  }
}

/** What follows the path of the proxy itself. */
function proxiedPath(path: string): string {
  const [, rest = ""] = /\/(?:pods|services|nodes)\/[^/]+\/proxy(\/.*)?$/.exec(path) ?? [];
  return rest === "" ? "/" : rest;
}

function subjectOf({ kind, version }: ResourceDefinition, { verb, subresource }: RequestAttributes): BodySubject {
  if (verb === "patch") return { kind: "patch" };
  if (verb === "delete" || verb === "deletecollection") return { kind: "options" };
  if (verb !== "create" && verb !== "update") return { kind: "other" };
  return { kind: "object", of: subresource === "scale" ? "Scale" : kind, version };
}

/** `v1/pods/log`, `authentication.k8s.io/v1/tokenreviews`, or the path itself. */
function endpointPath(attributes: RequestAttributes): string {
  if (!attributes.isResourceRequest) return attributes.path;
  const { resource, subresource } = attributes;
  const path = `${apiVersionOf(attributes)}/${resource}`;
  return subresource === "" ? path : `${path}/${subresource}`;
}

/**
 * Creates an API server that serves the built-in resources. It opens no socket: `handle` takes requests, and
 * `serve` of `@setpoint/apiserver/http` adds HTTPS.
 */
export function createApiServer(options: ApiServerOptions): ApiServer {
  return new ApiServer(options);
}
