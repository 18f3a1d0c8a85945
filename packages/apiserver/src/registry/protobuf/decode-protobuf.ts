/**
 * Decodes bodies of `application/vnd.kubernetes.protobuf` into the JSON that the same client would have sent.
 *
 * The bytes do not show whether a client set a zero: Go writes every field that is not a pointer, also when
 * it is zero. The rule: a zero stays when its field is a pointer in Go (`replicas: 0`) or when Go writes it
 * to JSON even when zero (no `omitempty`). Otherwise it is dropped, as Go drops it from JSON.
 * `go-fields.json` lists the fields that are pointers. Unknown fields are ignored.
 */
import { apiVersionOf, exactInteger, parseApiVersion } from "@setpoint/apimachinery";
import { goFields, protobufMessages, type GoFields } from "../builtin/api-data.ts";
import { componentOf } from "../builtin/builtin-resources.ts";
import { bodyValuesMax } from "../../request/value-bounds.ts";
import { messageName } from "../builtin/go-encoding.ts";
import { specialMessages } from "./special-messages.ts";
import { malformed, readFields, readVarints, type WireField, type WireValue } from "./wire-reader.ts";

type JsonObject = Record<string, unknown>;

const magic = [0x6b, 0x38, 0x73, 0x00];
/** Deeper than any built-in kind nests, and far below what the stack bears. */
const maxDepth = 100;
const metaPackage = "k8s.io.apimachinery.pkg.apis.meta.v1";
const noFields: GoFields = {};

/** Where in the object a message stands, and how many fields may still come in all. */
interface Level {
  readonly depth: number;
  readonly budget: { left: number };
}

function deeper({ depth, budget }: Level): Level {
  return { depth: depth + 1, budget };
}

/** Errors: `ApiError` 413 when the body holds more than it may. */
function fieldsOf(bytes: Uint8Array, { budget }: Level): readonly WireField[] {
  const fields = readFields(bytes, budget.left);
  budget.left -= fields.length;
  return fields;
}

/**
 * The object in a body, with apiVersion and kind from its envelope. Throws `ERR_PROTOBUF` when the bytes are
 * no such body.
 */
export function decodeProtobuf(bytes: Uint8Array): Record<string, unknown> {
  if (magic.some((byte, index) => bytes[index] !== byte)) throw malformed("no k8s\\0 prefix");
  const top: Level = { depth: 0, budget: { left: bodyValuesMax } };
  const unknown = decodeMessage("k8s.io.apimachinery.pkg.runtime.Unknown", bytes.subarray(magic.length), top, true);
  // The type is an embedded struct of the envelope; its field names are those of a Go struct that this
  // package does not declare.
  const { apiVersion = "", kind = "", raw } = unknown as { apiVersion?: string; kind?: string; raw?: Uint8Array };
  if (kind === "") throw malformed("an envelope without a kind");
  return { apiVersion, kind, ...decodeMessage(messageOf(apiVersion, kind), raw ?? new Uint8Array(), top) };
}

function messageOf(apiVersion: string, kind: string): string {
  const { group, version } = parseApiVersion(apiVersion);
  const component = componentOf(group, version, kind);
  const name = component === undefined ? `${metaPackage}.${kind}` : messageName(component);
  if (protobufMessages()[name] === undefined)
    throw malformed(
      `the kind ${JSON.stringify(kind)} of ${JSON.stringify(apiVersionOf({ group, version }))}, which is not built in`,
    );
  return name;
}

/** `rawBytes` keeps bytes as they are, for the envelope; elsewhere they are base64, as in JSON. */
function decodeMessage(name: string, bytes: Uint8Array, level: Level, rawBytes = false): JsonObject {
  if (level.depth > maxDepth) throw malformed(`more than ${maxDepth} levels`);
  const message = protobufMessages()[name];
  if (message === undefined) throw malformed(`the unknown message ${JSON.stringify(name)}`);
  const go = goFields()[name] ?? noFields;
  const object: JsonObject = {};
  for (const { number, value } of fieldsOf(bytes, level)) {
    const field = message[number];
    if (field === undefined) continue;
    const [protobufName, type, rule] = field;
    const jsonName = go.n?.[protobufName] ?? protobufName;
    if (rule === "map") putEntry(object, jsonName, type, name, value, level);
    else if (rule === "repeated") putElements(object, jsonName, type, name, value, level);
    else if (go.i?.includes(protobufName) === true) Object.assign(object, decodeValue(type, name, value, level));
    else
      putSingle(
        object,
        jsonName,
        rawBytes && type === "bytes" && value.kind === "bytes" ? value.bytes : decodeValue(type, name, value, level),
        go,
      );
  }
  return object;
}

function putSingle(object: JsonObject, name: string, value: unknown, go: GoFields): void {
  const isZero = value === undefined || value === null || value === "" || value === 0 || value === false;
  if (isZero && !(go.p?.includes(name) ?? false) && !(go.k?.includes(name) ?? false)) return;
  if (value !== undefined) object[name] = value;
}

function putElements(
  object: JsonObject,
  name: string,
  type: string,
  parent: string,
  value: WireValue,
  level: Level,
): void {
  const present = object[name];
  const list: unknown[] = Array.isArray(present) ? present : [];
  // Numbers may come packed into one byte string.
  const packed = value.kind === "bytes" && integerTypes.has(type);
  if (packed)
    for (const each of readVarints(value.bytes, level.budget.left))
      list.push(decodeScalar(type, { kind: "varint", value: each }));
  else list.push(decodeValue(type, parent, value, level));
  object[name] = list;
}

function putEntry(
  object: JsonObject,
  name: string,
  type: string,
  parent: string,
  value: WireValue,
  level: Level,
): void {
  if (value.kind !== "bytes") throw malformed("a map entry that is no message");
  const valueType = type.slice(type.indexOf(",") + 1, -1);
  let key = "";
  let decoded: unknown = valueType === "string" ? "" : undefined;
  for (const field of fieldsOf(value.bytes, level)) {
    if (field.number === 1) key = String(decodeScalar("string", field.value));
    else if (field.number === 2) decoded = decodeValue(valueType, parent, field.value, level);
  }
  const map = (object[name] ??= {}) as JsonObject;
  map[key] = decoded ?? absentValue(valueType);
}

/** What Go writes to JSON for an element of a map that has no bytes: null for a time. */
function absentValue(type: string): unknown {
  if (type === "bytes") return "";
  return type.endsWith("Time") ? null : {};
}

const integerTypes: ReadonlySet<string> = new Set(["int32", "int64", "uint32", "uint64", "bool"]);
const scalarTypes: ReadonlySet<string> = new Set([...integerTypes, "string", "bytes", "double", "float"]);

function decodeValue(type: string, parent: string, value: WireValue, level: Level): unknown {
  if (scalarTypes.has(type)) return decodeScalar(type, value);
  if (value.kind !== "bytes") throw malformed(`a number where a ${type} stands`);
  // Names without a dot are those of the same package; in maps absolute ones begin with a dot.
  const name = type.includes(".") ? type.replace(/^\./, "") : `${parent.slice(0, parent.lastIndexOf("."))}.${type}`;
  const special = specialMessages.get(name.slice(name.lastIndexOf(".") + 1));
  if (special !== undefined && protobufMessages()[name] !== undefined) {
    return special(
      value.bytes,
      (bytes, other) => decodeMessage(other ?? name, bytes, deeper(level), other === undefined),
      name,
    );
  }
  return decodeMessage(name, value.bytes, deeper(level));
}

const text = new TextDecoder();

function decodeScalar(type: string, value: WireValue): unknown {
  if (value.kind === "varint")
    return type === "bool" ? value.value !== 0n : exactInteger(BigInt.asIntN(64, value.value));
  if (value.kind === "fixed") return readFloat(value.bytes);
  return type === "bytes" ? Buffer.from(value.bytes).toString("base64") : text.decode(value.bytes);
}

function readFloat(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return bytes.byteLength === 8 ? view.getFloat64(0, true) : view.getFloat32(0, true);
}
