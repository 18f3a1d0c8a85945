/** Decodes the body of a request to a JSON value, by its media type. */
import { isUtf8 } from "node:buffer";
import {
  decodeJson,
  type ApiError,
  type ApiRequest,
  decodeYamlText,
  isApiError,
  messageOf,
  textEncodingOf,
} from "@setpoint/apimachinery";
import { badRequest, unsupportedMediaType } from "../response/api-errors.ts";
import { checkJsonBounds, checkValueBounds } from "./body-bounds.ts";
import { duplicateFields } from "./duplicate-fields.ts";
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
}

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
): Promise<DecodedBody> {
  const mediaType = mediaTypeOf(request.headers?.["content-type"]);
  const { body } = request;
  if (!(body instanceof Uint8Array)) return { mediaType, value: body, duplicates: none };
  if (body.length === 0) return { mediaType, value: undefined, duplicates: none };
  const decoder = decoders.get(mediaType);
  if (decoder !== undefined) return { mediaType, value: decodedBy(decoder, body), duplicates: none };
  if (mediaType.endsWith("json")) return jsonBody(mediaType, body);
  if (mediaType.endsWith("yaml")) return yamlBody(mediaType, body, decodeYaml);
  const known = ["application/json", "application/yaml", ...decoders.keys()];
  throw unsupportedMediaType(known);
}

function mediaTypeOf(header: string | undefined): string {
  if (header === undefined || header === "") return "application/json";
  const end = header.indexOf(";");
  return (end === -1 ? header : header.slice(0, end)).trim().toLowerCase();
}

function jsonBody(mediaType: string, body: Uint8Array): DecodedBody {
  const value = parseJson(body);
  return { mediaType, value, duplicates: duplicateFields(body, value) };
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
export function parseJson(body: Uint8Array): unknown {
  checkJsonBounds(body);
  try {
    return decodeJson(textOf(body));
  } catch (error) {
    const encoding = textEncodingOf(body);
    const why = encoding === undefined ? messageOf(error) : `the text is ${encoding}, expected UTF-8`;
    throw badRequest(`error decoding the body: ${why}`);
  }
}

function textOf(body: Uint8Array): string {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
}

async function yamlBody(mediaType: string, bytes: Uint8Array, decodeYaml: DecodeYaml): Promise<DecodedBody> {
  const body = yamlBytes(bytes);
  const json = jsonIn(body);
  if (json !== undefined) return { mediaType, value: json.value, duplicates: none };
  try {
    const { value, duplicates } = await decodeYaml(textOf(body));
    checkValueBounds(value);
    return { mediaType, value, duplicates };
  } catch (error) {
    throw refused("error decoding YAML", error);
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
