/** Decodes the body of a request to a JSON value, by its media type. */
import { isUtf8 } from "node:buffer";
import {
  decodeJson,
  type ApiError,
  type ApiRequest,
  decodeYamlText,
  isApiError,
  isJsonObject,
  messageOf,
  textEncodingOf,
} from "@setpoint/apimachinery";
import { badRequest, unsupportedMediaType } from "../response/api-errors.ts";
import { type BodySubject, noObject, undecodableJson, undecodableYaml } from "./body-subject.ts";
import { checkJsonBounds, checkValueBounds } from "./body-bounds.ts";
import { duplicateFields, findDuplicateFields } from "./duplicate-fields.ts";
import { goJsonError } from "./go-json-error.ts";
import { type ParsedYaml, parseYaml } from "./parse-yaml.ts";

/** Throws an Error that names the problem in the bytes. */
export type BodyDecoder = (bytes: Uint8Array) => unknown;
export type BodyDecoders = ReadonlyMap<string, BodyDecoder>;
/** Rejects with an Error that names the problem in the text. */
export type DecodeYaml = (source: string) => Promise<ParsedYaml>;

export interface DecodedBody {
  readonly mediaType: string;
  /** Undefined when the request has no body. */
  readonly value: unknown;
  /** Keys that stood twice in the text, as upstream reports them: `duplicate field "spec.x"`. */
  readonly duplicates: readonly string[];
  /** When some did in JSON: the paths of the keys in the order of the text. */
  readonly keys?: readonly string[];
}

/** What the text of a body shows beyond its value. */
export type BodyText = Pick<DecodedBody, "duplicates" | "keys">;

const none: readonly string[] = [];

/** Decodes on the main thread. */
export const decodeYamlHere: DecodeYaml = async (source) => parseYaml(source);

/**
 * `decoders` are those of other media types (protobuf); JSON and YAML are known here.
 *
 * Errors: `ApiError` 400 for what cannot be decoded, 413 for what holds too much, 415 for a media type or an
 * encoding that is unknown.
 */
export async function decodeBody(
  request: ApiRequest,
  decoders: BodyDecoders,
  decodeYaml: DecodeYaml = decodeYamlHere,
  subject: BodySubject = { kind: "other" },
): Promise<DecodedBody> {
  const mediaType = mediaTypeOf(request.headers?.["content-type"]);
  const { body } = request;
  if (body !== undefined && !(body instanceof Uint8Array)) return { mediaType, value: body, duplicates: none };
  if (body === undefined || body.length === 0) return nothing(mediaType, subject);
  const decoder = decoders.get(mediaType);
  if (decoder !== undefined) return { mediaType, value: decodedBy(decoder, body), duplicates: none };
  if (isOf("json", mediaType, subject)) return jsonBody(mediaType, body, subject);
  if (isOf("yaml", mediaType, subject)) return yamlBody(mediaType, body, decodeYaml, subject);
  // Which types a patch may have depends on its kind.
  if (subject.kind === "patch") return { mediaType, value: undefined, duplicates: none };
  const known = ["application/json", "application/yaml", ...decoders.keys()];
  throw unsupportedMediaType(known);
}

function nothing(mediaType: string, subject: BodySubject): DecodedBody {
  if (subject.kind === "object") throw undecodableJson(subject, Buffer.alloc(0), "unexpected end of JSON input");
  return { mediaType, value: undefined, duplicates: none };
}

/** The types of patches, and forms such as `application/x-yaml`, are none of an object. */
function isOf(form: "json" | "yaml", mediaType: string, { kind }: BodySubject): boolean {
  return kind === "object" ? mediaType === `application/${form}` : mediaType.endsWith(form);
}

function mediaTypeOf(header: string | undefined): string {
  if (header === undefined || header === "") return "application/json";
  const end = header.indexOf(";");
  return (end === -1 ? header : header.slice(0, end)).trim().toLowerCase();
}

function jsonBody(mediaType: string, body: Uint8Array, subject: BodySubject): DecodedBody {
  const value = parseJson(body, subject);
  checkIsObject(subject, body, value);
  return { mediaType, value, ...findDuplicateFields(body, value) };
}

function checkIsObject(subject: BodySubject, body: Uint8Array, value: unknown): void {
  if (subject.kind !== "object" && subject.kind !== "options") return;
  if (value !== null && !isJsonObject(value)) throw noObject(subject, body, value);
}

/** Whatever a decoder stumbles over is in the body. */
function decodedBy<T>(decoder: (bytes: Uint8Array) => T, body: Uint8Array, what = "error decoding the body"): T {
  try {
    return decoder(body);
  } catch (error) {
    throw refused(what, error);
  }
}

/** Parses JSON that holds no more than a body may. Errors: `ApiError` 400 and 413. */
function parseJson(body: Uint8Array, subject: BodySubject): unknown {
  checkJsonBounds(body);
  try {
    return decodeJson(textOf(body));
  } catch (error) {
    const encoding = textEncodingOf(body);
    if (encoding !== undefined) throw badRequest(`error decoding the body: the text is ${encoding}, expected UTF-8`);
    const syntax = goJsonError(body);
    // It is JSON, but a number is beyond the range of floats.
    if (syntax === undefined && subject.kind === "object") throw unfit(subject, messageOf(error));
    throw undecodableJson(subject, body, syntax ?? messageOf(error));
  }
}

function unfit({ of, version }: Extract<BodySubject, { kind: "object" }>, why: string): ApiError {
  return badRequest(`${of} in version "${version}" cannot be handled as a ${of}: ${why}`);
}

function textOf(body: Uint8Array): string {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
}

async function yamlBody(
  mediaType: string,
  bytes: Uint8Array,
  decodeYaml: DecodeYaml,
  subject: BodySubject,
): Promise<DecodedBody> {
  const body = yamlBytes(bytes);
  const json = jsonIn(body);
  if (json !== undefined) return { mediaType, value: json.value, duplicates: none };
  try {
    const { value, duplicates } = await decodeYaml(textOf(body));
    checkValueBounds(value);
    checkIsObject(subject, bytes, value);
    return { mediaType, value, duplicates };
  } catch (error) {
    throw isApiError(error) ? error : undecodableYaml(subject, bytes, messageOf(error));
  }
}

/** UTF-8; what is not is decoded and encoded again, for the bounds and the scan of keys work on bytes. */
function yamlBytes(bytes: Uint8Array): Uint8Array {
  if (textEncodingOf(bytes) === undefined && isUtf8(bytes)) return bytes;
  return Buffer.from(decodedBy(decodeYamlText, bytes, "error decoding YAML"));
}

const openBrace = 0x7b;

/** Most YAML that clients apply is JSON. The YAML parser reports repeated keys, with their lines. */
function jsonIn(body: Uint8Array): { readonly value: unknown } | undefined {
  if (body[0] !== openBrace) return undefined;
  checkJsonBounds(body);
  try {
    const value: unknown = decodeJson(textOf(body));
    return duplicateFields(body, value).length === 0 ? { value } : undefined;
  } catch {
    return undefined;
  }
}

function refused(what: string, error: unknown): ApiError {
  return isApiError(error) ? error : badRequest(`${what}: ${messageOf(error)}`);
}
