/** ConversionReview in, ConversionReview out. */
import { isJsonObject, type JsonObject, type KubeObject, messageOf } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import { NotAReview } from "./answer-admission.ts";

const reviewVersion = "apiextensions.k8s.io/v1";

/** A kind that can show its objects in several versions; those of `defineKind` can. */
export interface ConvertibleKind extends KindRef {
  readonly versions: readonly { readonly apiVersion: string }[];
  convert(object: KubeObject, apiVersion: string): KubeObject;
}

/** Whether the kind has several versions and can convert between them. */
export function isConvertible(kind: KindRef): kind is ConvertibleKind {
  return "versions" in kind && Array.isArray(kind.versions) && kind.versions.length > 1;
}

/** One object that cannot be converted fails all of its request, because the API server wants all or none. */
export function answerConversion(kinds: readonly ConvertibleKind[], body: unknown): JsonObject {
  if (!isJsonObject(body) || body["kind"] !== "ConversionReview" || body["apiVersion"] !== reviewVersion) {
    throw new NotAReview(`Cannot answer the request: its body is not a ConversionReview of ${reviewVersion}`);
  }
  const { request } = body;
  const { uid, desiredAPIVersion, objects } = isJsonObject(request) ? request : {};
  if (typeof uid !== "string" || typeof desiredAPIVersion !== "string" || !Array.isArray(objects)) {
    throw new NotAReview("Cannot answer the request: the ConversionReview has no uid, version or objects");
  }
  const response = { uid, ...convertAll(kinds, objects, desiredAPIVersion) };
  return { apiVersion: reviewVersion, kind: "ConversionReview", response };
}

function convertAll(kinds: readonly ConvertibleKind[], objects: readonly unknown[], apiVersion: string): JsonObject {
  try {
    const convertedObjects = objects.map((each) => convertOne(kinds, each, apiVersion));
    return { convertedObjects, result: { status: "Success" } };
  } catch (error) {
    const message = messageOf(error);
    return { convertedObjects: [], result: { status: "Failed", message } };
  }
}

function convertOne(kinds: readonly ConvertibleKind[], value: unknown, apiVersion: string): KubeObject {
  // The API server sends objects that it has stored or decoded.
  const object = value as KubeObject;
  const [group] = object.apiVersion.split("/");
  const kind = kinds.find((each) => each.kind === object.kind && each.group === group);
  if (kind === undefined) throw new Error(`${object.apiVersion} ${object.kind} is not a kind of this operator`);
  try {
    return kind.convert(object, apiVersion);
  } catch (error) {
    const { namespace = "", name = "" } = object.metadata;
    const key = namespace === "" ? name : `${namespace}/${name}`;
    const why = messageOf(error);
    throw new Error(`${object.kind} "${key}" to ${apiVersion}: ${why}`, { cause: error });
  }
}
