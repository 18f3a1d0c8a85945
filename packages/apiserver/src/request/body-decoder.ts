/** From the body of a request to a JSON value, by its media type. */
import { type ApiRequest, messageOf } from "@setpoint/apimachinery";
import { parseDocument } from "yaml";
import { badRequest, unsupportedMediaType } from "../response/api-errors.ts";

export type BodyDecoder = (bytes: Uint8Array) => unknown;
export type BodyDecoders = ReadonlyMap<string, BodyDecoder>;

export interface DecodedBody {
  readonly mediaType: string;
  /** Undefined when the request has no body. */
  readonly value: unknown;
  /** Keys that stood twice in the text: `duplicate field "spec.x"`. */
  readonly duplicates: readonly string[];
}

const none: readonly string[] = [];
const text = new TextDecoder();

/** `decoders` are those of other media types (protobuf); JSON and YAML are known here. */
export function decodeBody(request: ApiRequest, decoders: BodyDecoders): DecodedBody {
  const mediaType = mediaTypeOf(request.headers?.["content-type"]);
  const { body } = request;
  if (!(body instanceof Uint8Array)) return { mediaType, value: body, duplicates: none };
  if (body.length === 0) return { mediaType, value: undefined, duplicates: none };
  const decoder = decoders.get(mediaType);
  if (decoder !== undefined) return { mediaType, value: decoder(body), duplicates: none };
  if (mediaType.endsWith("json")) return { mediaType, value: parseJson(text.decode(body)), duplicates: none };
  if (mediaType.endsWith("yaml")) return { mediaType, ...parseYaml(text.decode(body)) };
  const known = ["application/json", "application/yaml", ...decoders.keys()];
  throw unsupportedMediaType(known);
}

function mediaTypeOf(header: string | undefined): string {
  if (header === undefined || header === "") return "application/json";
  const end = header.indexOf(";");
  return (end === -1 ? header : header.slice(0, end)).trim().toLowerCase();
}

function parseJson(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch (error) {
    throw badRequest(`error decoding the body: ${messageOf(error)}`);
  }
}

/** YAML 1.1, as the API reads it; the last of two equal keys wins, and both are reported. */
function parseYaml(source: string): { readonly value: unknown; readonly duplicates: readonly string[] } {
  const document = parseDocument(source, { version: "1.1", uniqueKeys: true, merge: true });
  const faults = document.errors.filter(({ code }) => code !== "DUPLICATE_KEY");
  const [fault] = faults;
  if (fault !== undefined) throw badRequest(`error decoding YAML: ${fault.message}`);
  const duplicates = document.errors.map(({ linePos, pos }) => {
    const key = /^[^:,}\s]*/.exec(source.slice(pos[0]))?.[0] ?? "";
    return `line ${linePos?.[0].line ?? 0}: key ${JSON.stringify(key.replaceAll(/^["']|["']$/g, ""))} already set in map`;
  });
  return { value: document.toJS({ maxAliasCount: 100 }), duplicates };
}
