/** Objects of a user's files, which a plan pretends to apply before the operator runs. */
import { readFileSync } from "node:fs";
import {
  decodeYamlText,
  gvkOf,
  isApiError,
  isJsonObject,
  isNotFound,
  messageOf,
  SetpointError,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import type { Client, KindRef } from "@setpoint/client";
import type { Operator } from "setpoint";
import { usageError } from "../command.ts";
import { yamlDocuments } from "../yaml-documents.ts";
import { plansItsSteps } from "./planned-steps.ts";

/** Whose fields they become: those of `kubectl apply --server-side`. */
const fieldManager = "kubectl";

/** An object of a file. */
export interface GivenObject {
  readonly file: string;
  readonly object: UnstructuredObject;
}

/** Throws `ERR_USAGE` with the file and the place in it. */
export function readObjects(files: readonly string[]): readonly GivenObject[] {
  return files.flatMap((file) => parseFile(file).map((object) => ({ file, object })));
}

function parseFile(file: string): readonly UnstructuredObject[] {
  return documentsOf(file).flatMap((object, index) => (object === null ? [] : [checked(object, file, index + 1)]));
}

function documentsOf(file: string): readonly unknown[] {
  try {
    return yamlDocuments(decodeYamlText(readFileSync(file)));
  } catch (error) {
    throw refused(file, messageOf(error));
  }
}

function checked(value: unknown, file: string, position: number): UnstructuredObject {
  const { apiVersion, kind, metadata } = isJsonObject(value) ? value : {};
  const isNamed = isJsonObject(metadata) && typeof metadata["name"] === "string";
  if (typeof apiVersion === "string" && typeof kind === "string" && isNamed) return value as UnstructuredObject;
  throw refused(file, `document ${position} needs apiVersion, kind and metadata.name`);
}

function refused(file: string, why: string): SetpointError {
  return new SetpointError(usageError, `Cannot plan "${file}": ${why}`);
}

export interface PretendOptions {
  readonly operator: Operator;
  /** Of the pretended world. */
  readonly client: Client;
  /** Of objects that name none. */
  readonly namespace: string;
}

/** An object as it is applied. */
export interface PreparedObject {
  readonly kind: KindRef;
  readonly object: UnstructuredObject;
  /** It has got `spec.dryRun`, so that its operator lists the steps and does none. */
  readonly isPlanned: boolean;
}

export async function prepareGiven({ object }: GivenObject, options: PretendOptions): Promise<PreparedObject> {
  const { operator, client } = options;
  const kind = await kindOf(object, options);
  const { name = "", namespace = options.namespace } = object.metadata;
  const key = kind.namespaced ? { name, namespace } : { name };
  const placed = { ...object, metadata: { ...object.metadata, ...key } };
  const isPlanned = !isDryRun(object) && plansItsSteps(operator, object) && (await exists(kind, key, client));
  return { kind, object: isPlanned ? withDryRun(placed) : placed, isPlanned };
}

/** As `kubectl apply --server-side` does. The overlay reports a refusal. */
export async function applyGiven({ kind, object }: PreparedObject, client: Client): Promise<void> {
  try {
    await client.apply(kind, object, { fieldManager, force: true });
  } catch (error) {
    if (!isApiError(error)) throw error;
  }
}

/** Whether the operator is asked to list the steps of a change of it, and to do none. */
export function isDryRun(object: UnstructuredObject): boolean {
  const { spec } = object as { readonly spec?: unknown };
  return isJsonObject(spec) && spec["dryRun"] === true;
}

async function kindOf(object: UnstructuredObject, { operator, client }: PretendOptions): Promise<KindRef> {
  const wanted = gvkOf(object);
  const own = operator.kinds.find(
    ({ group, version, kind }) => group === wanted.group && version === wanted.version && kind === wanted.kind,
  );
  return own ?? (await client.discover()).ofObject(object);
}

async function exists(
  kind: KindRef,
  key: { readonly name: string; readonly namespace?: string },
  client: Client,
): Promise<boolean> {
  try {
    await client.get(kind, key);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

function withDryRun(object: UnstructuredObject): UnstructuredObject {
  const spec = isJsonObject(object["spec"]) ? object["spec"] : {};
  return { ...object, spec: { ...spec, dryRun: true } };
}
