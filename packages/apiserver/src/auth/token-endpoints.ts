/**
 * Issues tokens and reports who a token or the caller is: TokenRequest, TokenReview, SelfSubjectReview,
 * public keys.
 */
import {
  ApiError,
  type ApiResponse,
  failure,
  invalid,
  type UnstructuredObject,
  type UserInfo,
} from "@setpoint/apimachinery";
import { type Clock, timestamp, timestampAt } from "@setpoint/host";
import type { ObjectReader } from "../registry/object-reader.ts";
import type { Endpoint, EndpointRequest, EndpointTable } from "../registry/endpoint.ts";
import { withoutTables } from "./no-table.ts";
import { asRecord, asStrings, asText, type JsonRecord } from "./read-json.ts";
import { restrictNodeToken } from "./node-token-restriction.ts";
import type { BoundObject, ServiceAccountTokens, TokenIssue } from "./service-account-tokens.ts";

/** What the token endpoints issue and verify with. */
export interface TokenEndpointsOptions {
  readonly clock: Clock;
  readonly reader: ObjectReader;
  readonly tokens: ServiceAccountTokens;
  /** Users by fixed tokens, the same as the authenticator's. */
  readonly staticTokens?: ReadonlyMap<string, UserInfo>;
  /** Where the key set is published, as clients see this server: `https://127.0.0.1:6443`. */
  readonly url?: string;
}

const group = "authentication.k8s.io";
const expirationSecondsDefault = 3600;
const expirationSecondsMin = 600;
const expirationSecondsMax = 2 ** 32;

/**
 * The endpoints of TokenRequest, TokenReview and SelfSubjectReview, and of the keys that verify tokens
 * (OIDC).
 */
export function createTokenEndpoints(options: TokenEndpointsOptions): EndpointTable {
  const table = new Map<string, Endpoint>([
    ["POST v1/serviceaccounts/token", async (request) => requestToken(options, request)],
    [`POST ${group}/v1/tokenreviews`, async (request) => reviewToken(options, request)],
    [`POST ${group}/v1/selfsubjectreviews`, async (request) => reviewSelf(options, request)],
    ["GET /openid/v1/jwks", async () => published("application/jwk-set+json", options.tokens.jwks)],
    ["GET /.well-known/openid-configuration", async () => published("application/json", configuration(options))],
  ]);
  return withoutTables(table);
}

function answer(status: number, object: unknown): ApiResponse {
  return { kind: "object", status, headers: {}, object };
}

function requestToken({ clock, reader, tokens }: TokenEndpointsOptions, request: EndpointRequest): ApiResponse {
  const { namespace, name } = request.attributes;
  const account = reader.get("", "serviceaccounts", namespace, name);
  if (account === undefined) throw notFound("serviceaccounts", name);
  const spec = asRecord(request.body?.["spec"]);
  const asked = asStrings(spec["audiences"]);
  const audiences = asked.length === 0 ? tokens.audiences : asked;
  const expirationSeconds = expirationOf(spec);
  const bound = boundObject(reader, namespace, spec["boundObjectRef"]);
  const pod = bound?.kind === "Pod" ? reader.get("", "pods", namespace, bound.name) : undefined;
  if (pod !== undefined) checkAccountOf(pod, name);
  restrictNodeToken(request.attributes.user, { reader, namespace, name, spec, audiences: asked });
  const uid = account.metadata.uid ?? "";
  const issued = tokens.issue({
    namespace,
    name,
    uid,
    audiences,
    expirationSeconds,
    ...(bound === undefined ? {} : { bound }),
    ...nodeOf(reader, pod),
  });
  const expirationTimestamp = timestampAt(issued.expiresAtMs);
  return answer(201, {
    kind: "TokenRequest",
    apiVersion: `${group}/v1`,
    metadata: { name, namespace, uid, creationTimestamp: timestamp(clock) },
    spec: { audiences, expirationSeconds, boundObjectRef: spec["boundObjectRef"] ?? null },
    status: { token: issued.token, expirationTimestamp },
  });
}

function expirationOf(spec: JsonRecord): number {
  const asked = spec["expirationSeconds"] ?? expirationSecondsDefault;
  const seconds = typeof asked === "bigint" ? Number(asked) : asked;
  if (typeof seconds === "number" && seconds >= expirationSecondsMin && seconds <= expirationSecondsMax) return seconds;
  const isLong = typeof seconds === "number" && seconds > expirationSecondsMax;
  const why = isLong
    ? "may not specify a duration larger than 2^32 seconds"
    : "may not specify a duration less than 10 minutes";
  const message = `Invalid value: ${JSON.stringify(seconds)}: ${why}`;
  throw invalid({ group, kind: "TokenRequest" }, "", [
    { type: "FieldValueInvalid", field: "spec.expirationSeconds", message },
  ]);
}

const boundResources: Readonly<Record<BoundObject["kind"], string>> = { Pod: "pods", Secret: "secrets", Node: "nodes" };

function boundObject(reader: ObjectReader, namespace: string, ref: unknown): BoundObject | undefined {
  if (ref === undefined || ref === null) return undefined;
  const { kind, apiVersion, name, uid } = asRecord(ref);
  if (apiVersion !== "v1" || (kind !== "Pod" && kind !== "Secret" && kind !== "Node")) {
    const message = `cannot bind token to object of type /${asText(apiVersion)}, Kind=${asText(kind)}`;
    throw new ApiError(failure(400, "BadRequest", message));
  }
  const resource = boundResources[kind];
  const object = reader.get("", resource, kind === "Node" ? "" : namespace, asText(name));
  if (object === undefined) throw notFound(resource, asText(name));
  const actual = object.metadata.uid ?? "";
  if (asText(uid) !== "" && uid !== actual) throw uidConflict(resource, asText(name), asText(uid), actual);
  return { kind, name: asText(name), uid: actual };
}

/**
 * Otherwise an account that may create its own tokens would get tokens that name another pod.
 */
function checkAccountOf(pod: UnstructuredObject, name: string): void {
  if (asText(asRecord(pod["spec"])["serviceAccountName"]) === name) return;
  const quoted = JSON.stringify(name);
  const message = `cannot bind token for serviceaccount ${quoted} to pod running with different serviceaccount name.`;
  throw new ApiError(failure(400, "BadRequest", message));
}

function nodeOf(reader: ObjectReader, pod: UnstructuredObject | undefined): Pick<TokenIssue, "node"> {
  const name = asText(asRecord(pod?.["spec"])["nodeName"]);
  if (name === "") return {};
  return { node: { name, uid: reader.get("", "nodes", "", name)?.metadata.uid ?? "" } };
}

function uidConflict(resource: string, name: string, uid: string, actual: string): ApiError {
  const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  const message = `Operation cannot be fulfilled on ${resource} ${JSON.stringify(name)}: ${why} (${actual})`;
  return new ApiError(failure(409, "Conflict", message, { name, kind: resource }));
}

function notFound(resource: string, name: string): ApiError {
  const message = `${resource} ${JSON.stringify(name)} not found`;
  return new ApiError(failure(404, "NotFound", message, { name, kind: resource }));
}

function reviewToken(options: TokenEndpointsOptions, request: EndpointRequest): ApiResponse {
  const spec = asRecord(request.body?.["spec"]);
  const token = asText(spec["token"]);
  if (token === "") {
    throw new ApiError(failure(400, "BadRequest", "token is required for TokenReview in authentication"));
  }
  const object = { kind: "TokenReview", apiVersion: `${group}/v1`, metadata: {}, spec };
  return answer(201, { ...object, status: tokenStatus(options, token, asStrings(spec["audiences"])) });
}

function tokenStatus(options: TokenEndpointsOptions, token: string, asked: readonly string[]): JsonRecord {
  const fixed = options.staticTokens?.get(token);
  if (fixed !== undefined) {
    const user = { ...fixed, groups: [...fixed.groups, "system:authenticated"] };
    return { authenticated: true, user, ...(asked.length === 0 ? {} : { audiences: asked }) };
  }
  const audiences = asked.length === 0 ? options.tokens.audiences : asked;
  const verified = options.tokens.authenticate(token, audiences);
  if (verified === undefined) return { user: {}, error: "invalid bearer token" };
  return { authenticated: true, user: verified.user, audiences: verified.audiences };
}

function reviewSelf({ clock }: TokenEndpointsOptions, request: EndpointRequest): ApiResponse {
  return answer(201, {
    kind: "SelfSubjectReview",
    apiVersion: `${group}/v1`,
    metadata: { creationTimestamp: timestamp(clock) },
    status: { userInfo: request.attributes.user },
  });
}

function configuration({ tokens, url }: TokenEndpointsOptions): UnstructuredObject | JsonRecord {
  return {
    issuer: tokens.issuer,
    jwks_uri: `${url ?? tokens.issuer}/openid/v1/jwks`,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["ES256"],
  };
}

function published(contentType: string, object: unknown): ApiResponse {
  const headers = { "content-type": contentType, "cache-control": "public, max-age=3600" };
  return { kind: "object", status: 200, headers, object };
}
