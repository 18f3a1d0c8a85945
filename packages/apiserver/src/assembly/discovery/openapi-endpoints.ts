/** Answers requests below `/openapi`: negotiation, entity tags, redirects from outdated hashes. */
import type { ApiRequest, ApiResponse } from "@setpoint/apimachinery";
import { timestampYearsAhead } from "./http-date.ts";
import { acceptsType, parseAccept } from "./accept.ts";
import { matchesEtag } from "./etag.ts";
import type { OpenApiDocuments } from "./openapi-documents.ts";
import type { SwaggerDocument, SwaggerForm } from "./swagger/swagger-document.ts";
import { emptyResponse, jsonHeaders, objectResponse } from "./response.ts";

const acceptsJson = (request: ApiRequest): boolean =>
  parseAccept(request.headers?.["accept"]).some((clause) => acceptsType(clause, "application/json"));

/** `others` are documents of extension servers. */
export function answerOpenApiIndex(
  documents: OpenApiDocuments,
  others: readonly { readonly key: string; readonly url: string }[] = [],
): ApiResponse {
  const { paths } = documents.index();
  const more = others.map(({ key, url }) => [key, { serverRelativeURL: url }]);
  return objectResponse({ paths: { ...paths, ...Object.fromEntries(more) } });
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

const swaggerTypes: readonly (readonly [type: string, form: SwaggerForm])[] = [
  ["application/json", "json"],
  ["application/com.github.proto-openapi.spec.v2.v1.0+protobuf", "protobuf"],
  ["application/com.github.proto-openapi.spec.v2@v1.0+protobuf", "protobuf"],
];

/** `GET /openapi/v2`, for clients older than v3 and those that read all kinds at once. */
export async function answerOpenApiV2(document: SwaggerDocument, request: ApiRequest): Promise<ApiResponse> {
  const accepted = parseAccept(request.headers?.["accept"])
    .map((clause) => swaggerTypes.find(([type]) => acceptsType(clause, type)))
    .find((each) => each !== undefined);
  if (accepted === undefined) return emptyResponse(406, { vary: "Accept" });
  const [, form] = accepted;
  const etag = `"${document.hash(form)}"`;
  // The name with "@" is no valid media type; upstream answers with the other one.
  const type = form === "json" ? "application/json" : "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
  const headers = { "content-type": type, etag, vary: "Accept" };
  if (matchesEtag(request.headers?.["if-none-match"], etag)) return emptyResponse(304, headers);
  return { kind: "bytes", status: 200, headers, bytes: inOrder(await document.write(form)) };
}

async function* inOrder(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}
