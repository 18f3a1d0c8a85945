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

/** `GET /openapi/v3/<key>?hash=…`. Clients may cache a document with its own hash forever. */
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

const protobufType = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
const asksForProtobuf = (request: ApiRequest): boolean =>
  parseAccept(request.headers?.["accept"]).some(({ mediaType }) =>
    mediaType.startsWith("application/com.github.proto-openapi"),
  );

/**
 * `GET /openapi/v2`: a document without paths and definitions. Current clients read v3; kubectl asks for this
 * one, in protobuf, for a kind that the server does not serve, and then prints its own error.
 */
export function answerOpenApiV2(serverVersion: string, request: ApiRequest): ApiResponse {
  const info = { title: "Kubernetes", version: serverVersion };
  if (asksForProtobuf(request)) {
    const headers = { "content-type": protobufType, vary: "Accept" };
    return { kind: "bytes", status: 200, headers, bytes: oneChunk(protobufDocument(info)) };
  }
  if (!acceptsJson(request)) return emptyResponse(406, { vary: "Accept" });
  const document = { swagger: "2.0", info, paths: {}, definitions: {} };
  const etag = `"${contentHash(JSON.stringify(document))}"`;
  const headers = { ...jsonHeaders, etag, vary: "Accept" };
  if (matchesEtag(request.headers?.["if-none-match"], etag)) return emptyResponse(304, headers);
  return objectResponse(document, headers);
}

/** The same in gnostic's message Document: 1 is swagger, 2 is info with 1 title and 2 version. */
function protobufDocument({ title, version }: { readonly title: string; readonly version: string }): Uint8Array {
  return Uint8Array.from([
    ...field(1, text("2.0")),
    ...field(2, [...field(1, text(title)), ...field(2, text(version))]),
  ]);
}

/**
 * A length-delimited field; all of this document are shorter than the 128 bytes that one byte of length can
 * say.
 */
function field(number: number, bytes: readonly number[]): readonly number[] {
  return [(number << 3) | 2, bytes.length, ...bytes];
}

function text(value: string): readonly number[] {
  return [...new TextEncoder().encode(value)];
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
