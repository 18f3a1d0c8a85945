/** Converts objects between the versions of a kind, without loss. */
import {
  decodeJson,
  encodeJson,
  apiVersionOf,
  createMergePatch,
  deepEqual,
  isJsonObject,
  type JsonObject,
  mergePatch,
  SetpointError,
  type KubeObject,
  cloneJson,
} from "@setpoint/apimachinery";

/** A version other than the hub, with its functions; their types are checked where the kind is defined. */
export interface ConvertedVersion {
  readonly name: string;
  readonly up: (spec: never) => unknown;
  readonly down: (spec: never) => unknown;
  readonly statusUp?: ((status: never) => unknown) | undefined;
  readonly statusDown?: ((status: never) => unknown) | undefined;
}

export interface ConversionPlan {
  readonly group: string;
  readonly kind: string;
  /** The version that is stored, and between which and all others there are functions. */
  readonly hub: string;
  readonly others: readonly ConvertedVersion[];
}

/** What a version has no field for is kept in this annotation, by the version that has one. */
const keptPrefix = "conversion.setpoint.dev/";

/**
 * The object in another version. An annotation keeps the fields that the target version lacks, and conversion
 * back restores them. A change made meanwhile is applied to the kept fields.
 *
 * Errors: `ERR_CONVERSION` for a version that the kind does not have; what the author's functions throw.
 */
export function convertObject(plan: ConversionPlan, object: KubeObject, apiVersion: string): KubeObject {
  if (object.apiVersion === apiVersion) return object;
  const hub = apiVersionOf({ group: plan.group, version: plan.hub });
  const up = object.apiVersion === hub ? object : between(plan, object, versionOf(plan, object.apiVersion), "up");
  return apiVersion === hub ? up : between(plan, up, versionOf(plan, apiVersion), "down");
}

function versionOf({ group, kind, others, hub }: ConversionPlan, apiVersion: string): ConvertedVersion {
  const found = others.find(({ name }) => apiVersionOf({ group, version: name }) === apiVersion);
  if (found !== undefined) return found;
  const known = [hub, ...others.map(({ name }) => name)].join(", ");
  throw new SetpointError(
    "ERR_CONVERSION",
    `Cannot convert ${kind}: it has no version "${apiVersion}", expected one of ${known}`,
  );
}

/** Spec and status, as far as there are any. */
type Payload = JsonObject;

function between(
  plan: ConversionPlan,
  object: KubeObject,
  version: ConvertedVersion,
  direction: "up" | "down",
): KubeObject {
  const [from, to] = direction === "up" ? [version.name, plan.hub] : [plan.hub, version.name];
  const there = payloadConverter(version, direction);
  const back = payloadConverter(version, direction === "up" ? "down" : "up");
  const before = payloadOf(object);
  const plain = there(before);
  const { kept, annotations } = takeKept(object, to);
  const after = kept === undefined ? plain : restored(kept, plain, (payload) => there(back(payload)));
  const isLossless = deepEqual(tidy(back(after)), tidy(before));
  const { annotations: _old, ...metadata } = object.metadata;
  const all = isLossless ? annotations : { ...annotations, [`${keptPrefix}${from}`]: encodeJson(before) };
  const {
    spec: _spec,
    status: _status,
    ...rest
  } = object as KubeObject & {
    readonly spec?: unknown;
    readonly status?: unknown;
  };
  return {
    ...rest,
    apiVersion: apiVersionOf({ group: plan.group, version: to }),
    metadata: Object.keys(all).length === 0 ? metadata : { ...metadata, annotations: all },
    ...after,
  };
}

/**
 * What was kept, with what has been changed since: the difference between then and now, both seen by the same
 * functions.
 */
function restored(kept: Payload, plain: Payload, seen: (payload: Payload) => Payload): Payload {
  const then = tidy(seen(kept));
  // A patch of an object is an object.
  return mergePatch(kept, createMergePatch(then, tidy(plain))) as Payload;
}

function payloadOf(object: KubeObject): Payload {
  const { spec, status } = object as KubeObject & { readonly spec?: unknown; readonly status?: unknown };
  return { ...(spec === undefined ? {} : { spec }), ...(status === undefined ? {} : { status }) };
}

function payloadConverter(version: ConvertedVersion, direction: "up" | "down"): (payload: Payload) => Payload {
  const [specs, statuses] = direction === "up" ? [version.up, version.statusUp] : [version.down, version.statusDown];
  return ({ spec, status }) => ({
    // The author's functions get what the schema of their version describes.
    ...(spec === undefined ? {} : { spec: specs(spec as never) }),
    ...(status === undefined ? {} : { status: statuses === undefined ? status : statuses(status as never) }),
  });
}

/** Undefined fields are absent on the wire. */
function tidy(payload: Payload): Payload {
  return decodeJson(encodeJson(payload)) as JsonObject;
}

interface Kept {
  readonly kept: Payload | undefined;
  /** Without what was kept for this version: it is in the object now. */
  readonly annotations: Readonly<Record<string, string>>;
}

function takeKept(object: KubeObject, version: string): Kept {
  const key = `${keptPrefix}${version}`;
  const { [key]: text, ...annotations } = object.metadata.annotations ?? {};
  return { kept: text === undefined ? undefined : parseKept(text), annotations };
}

/** Users may damage annotations; then the plain conversion counts. */
function parseKept(text: string): Payload | undefined {
  try {
    const value: unknown = decodeJson(text);
    return isJsonObject(value) ? (cloneJson(value) as Payload) : undefined;
  } catch {
    return undefined;
  }
}
