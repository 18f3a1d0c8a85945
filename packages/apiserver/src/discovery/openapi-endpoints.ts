/** Answers requests below `/openapi`: negotiation, entity tags, redirects from outdated hashes. */
import type { ApiRequest, ApiResponse } from "@setpoint/apimachinery";
import { timestampYearsAhead } from "./http-date.ts";
import { acceptsType, parseAccept } from "./accept.ts";
import { contentHash, matchesEtag } from "./etag.ts";
import type { OpenApiDocuments } from "./openapi-documents.ts";
import { emptyResponse, jsonHeaders, objectResponse } from "./response.ts";

const acceptsJson = (request: ApiRequest): boolean =>
  parseAccept(request.headers?.["accept"]).some((clause) => acceptsType(clause, "application/json"));

export function answerOpenApiIndex(documents: OpenApiDocuments): ApiResponse {
  return objectResponse(documents.index());
}

/** `GET /openapi/v3/<key>?hash=…`. A document with its own hash may be kept for ever. */
export function answerOpenApiDocument(
  documents: OpenApiDocuments,
  key: string,
  request: ApiRequest,
  now: number,
): ApiResponse {
  const hash = documents.hash(key);
  if (hash === undefined) return emptyResponse(404, {});
  if (!acceptsJson(request)) return emptyResponse(406, { vary: "Accept" });
  const headers = { ...jsonHeaders, etag: `"${hash}"`, vary: "Accept" };
  const asked = [request.query?.["hash"] ?? []].flat()[0];
  if (asked !== undefined && asked !== hash) return emptyResponse(301, { ...headers, location: documents.url(key) });
  const kept =
    asked === undefined ? {} : { "cache-control": "public, immutable", expires: timestampYearsAhead(now, 1) };
  if (matchesEtag(request.headers?.["if-none-match"], headers.etag)) return emptyResponse(304, { ...headers, ...kept });
  return objectResponse(documents.document(key), { ...headers, ...kept });
}

/**
 * `GET /openapi/v2`: a document without paths and definitions. Current clients read v3; older ones that want protobuf get 406,
 * as from a server without it, and then do without client-side checks.
 */
export function answerOpenApiV2(serverVersion: string, request: ApiRequest): ApiResponse {
  if (!acceptsJson(request)) return emptyResponse(406, { vary: "Accept" });
  const document = {
    swagger: "2.0",
    info: { title: "Kubernetes", version: serverVersion },
    paths: {},
    definitions: {},
  };
  const etag = `"${contentHash(JSON.stringify(document))}"`;
  const headers = { ...jsonHeaders, etag, vary: "Accept" };
  if (matchesEtag(request.headers?.["if-none-match"], etag)) return emptyResponse(304, headers);
  return objectResponse(document, headers);
}
