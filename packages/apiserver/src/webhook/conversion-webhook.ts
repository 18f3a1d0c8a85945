/** Conversion of a custom kind between its versions by the webhook that its CRD names. */
import {
  deepEqual,
  isJsonObject,
  type JsonObject,
  type ObjectMeta,
  type UnstructuredObject,
  messageOf,
} from "@setpoint/apimachinery";
import type { Clock, Random } from "@setpoint/host";
import type { ObjectConverter } from "../registry/resource-definition.ts";
import { plainError } from "../response/api-errors.ts";
import { postReview } from "./post-review.ts";
import type { WebhookCaller } from "./webhook-caller.ts";
import type { WebhookClientConfig } from "../registry/webhook-client-config.ts";

export interface ConversionWebhookParts {
  readonly caller: WebhookCaller;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
}

const timeoutSeconds = 30;
const reviewVersion = "apiextensions.k8s.io/v1";

export function conversionWebhook(config: WebhookClientConfig, parts: ConversionWebhookParts): ObjectConverter {
  return { convert: (objects, apiVersion) => convertAll(config, parts, objects, apiVersion) };
}

async function convertAll(
  config: WebhookClientConfig,
  parts: ConversionWebhookParts,
  objects: readonly UnstructuredObject[],
  apiVersion: string,
): Promise<readonly UnstructuredObject[]> {
  const asked = objects.filter((each) => each.apiVersion !== apiVersion);
  const [first] = asked;
  if (first === undefined) return objects;
  const name = `conversion webhook for ${first.apiVersion}, Kind=${first.kind}`;
  const answered = await ask(name, config, parts, asked, apiVersion);
  if (answered.length !== asked.length) {
    throw plainError(`${name} returned ${answered.length} objects, expected ${asked.length}`);
  }
  const converted = new Map(
    asked.map((object, index) => [object, checked(name, object, answered[index], apiVersion, index)]),
  );
  return objects.map((each) => converted.get(each) ?? each);
}

async function ask(
  name: string,
  config: WebhookClientConfig,
  { caller, clock, random, signal }: ConversionWebhookParts,
  objects: readonly UnstructuredObject[],
  desiredAPIVersion: string,
): Promise<readonly unknown[]> {
  const uid = random.uuid();
  const request = { uid, desiredAPIVersion, objects };
  const review = { kind: "ConversionReview", apiVersion: reviewVersion, request };
  try {
    return parseConversion(await postReview(caller, clock, { config, timeoutSeconds, review, signal }), uid);
  } catch (error) {
    signal.throwIfAborted();
    throw plainError(`${name} failed: ${messageOf(error)}`);
  }
}

function parseConversion({ apiVersion, kind, response }: JsonObject, uid: string): readonly unknown[] {
  if (kind !== "ConversionReview" || apiVersion !== reviewVersion) {
    const got = `${String(apiVersion ?? "/")}, Kind=${String(kind ?? "")}`;
    throw new Error(`expected webhook response of ${reviewVersion}, Kind=ConversionReview, got ${got}`);
  }
  if (!isJsonObject(response)) throw new Error("no response provided");
  if (response["uid"] !== uid) {
    const got = JSON.stringify(String(response["uid"] ?? ""));
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${got}`);
  }
  const { result, convertedObjects } = response;
  const { status, message } = isJsonObject(result) ? result : {};
  if (status !== "Success") {
    throw new Error(typeof message === "string" && message !== "" ? message : "no reason given by the webhook");
  }
  return Array.isArray(convertedObjects) ? convertedObjects : [];
}

/** The answer for one object. Only labels and annotations of its metadata count; the rest is as it was. */
function checked(
  name: string,
  original: UnstructuredObject,
  answer: unknown,
  apiVersion: string,
  index: number,
): UnstructuredObject {
  const at = `${name} returned invalid object at index ${index}`;
  if (!isJsonObject(answer)) throw plainError(`${at}: not an object`);
  if (answer["apiVersion"] !== apiVersion) {
    const versions = `expected ${apiVersion}, received ${String(answer["apiVersion"] ?? "")}`;
    throw plainError(`${at}: invalid groupVersion (${versions})`);
  }
  if (answer["kind"] !== original.kind) {
    throw plainError(`${at}: invalid kind (expected ${original.kind}, received ${String(answer["kind"] ?? "")})`);
  }
  const { metadata } = answer;
  if (!isJsonObject(metadata)) throw plainError(`${name} returned invalid metadata: missing metadata`);
  checkIdentity(name, original.metadata, metadata);
  return { ...answer, apiVersion, kind: original.kind, metadata: restored(original.metadata, metadata) };
}

function checkIdentity(name: string, original: ObjectMeta, given: JsonObject): void {
  for (const field of ["name", "namespace", "uid"] as const) {
    const [before, after] = [original[field] ?? "", given[field] ?? ""];
    if (deepEqual(before, after)) continue;
    const text = field === "uid" ? "UID" : field;
    throw plainError(`${name} returned invalid object: must have the same ${text}: ${before} != ${String(after)}`);
  }
}

function restored(original: ObjectMeta, given: JsonObject): ObjectMeta {
  const { labels: _labels, annotations: _annotations, ...kept } = original;
  return {
    ...kept,
    ...(isJsonObject(given["labels"]) ? { labels: textsOf(given["labels"]) } : {}),
    ...(isJsonObject(given["annotations"]) ? { annotations: textsOf(given["annotations"]) } : {}),
  };
}

function textsOf(given: JsonObject): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, String(value)]));
}
