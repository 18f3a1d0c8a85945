import { apiVersionOf, type UnstructuredObject } from "@setpoint/apimachinery";
import { randomSuffix, timestamp } from "@setpoint/host";
import { trackUpdate } from "../apply/track-update.ts";
import type { ServedRequest } from "../registry/served-request.ts";
import { alreadyExists, badRequest, plainError } from "../response/api-errors.ts";
import { decideWrite } from "./decide-write.ts";
import type { Waits } from "../registry/waits.ts";
import { dedupeOwnerReferences } from "./dedupe-owner-references.ts";
import { decodeObjects } from "../registry/object-codec.ts";
import { storageKey } from "../registry/object-key.ts";
import { type MutableMeta, type MutableObject, setManagers } from "../registry/mutable-object.ts";
import type { RegistryContext } from "../registry/registry-context.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import { resetFieldsOf } from "./reset-fields.ts";
import { settled, showReady } from "../registry/resource-view.ts";
import { validateObject } from "../validation/validate-object.ts";
import { admissionHolds, admissionRequest, admitting, validating, writeContext } from "./write-kit.ts";
import { parseWriteOptions, type WriteOptions } from "../request/write-options.ts";

/** Attempts to find a free name for a generateName, as in upstream (RetryGenerateName). */
const generateNameAttemptsMax = 8;
const generatedSuffixLength = 5;
/** A generated name is a label of at most 63 characters. */
const generateNameBaseMax = 58;

export async function createObject(
  context: RegistryContext,
  served: ServedRequest,
  body: unknown,
  duplicates: readonly string[],
): Promise<UnstructuredObject> {
  const { definition, request, attributes, warnings } = served;
  const options = parseWriteOptions(request.query, request.headers?.["user-agent"] ?? "", "CreateOptions");
  const settings = { fieldValidation: options.fieldValidation, warnings, duplicates };
  const { first, take } = decodeObjects(definition, body, settings);
  checkNamespace(definition, first, attributes.namespace);
  const { name = "", generateName = "" } = first.metadata;
  const generates = name === "" && generateName !== "";
  for (let attempt = 1; ; attempt++) {
    const wanted = generates ? generatedName(context, generateName) : name;
    try {
      return await createNamed(context, served, options, wanted, take);
    } catch (error) {
      if (!(error instanceof NameTaken)) throw error;
      if (!generates || attempt === generateNameAttemptsMax) throw error.asApiError(generates);
    }
  }
}

/** Creates an object whose name is known, or that has none. */
async function createNamed(
  context: RegistryContext,
  served: ServedRequest,
  options: WriteOptions,
  name: string,
  take: () => MutableObject,
): Promise<UnstructuredObject> {
  const { definition, attributes } = served;
  const key = storageKey(definition, attributes.namespace, name);
  const view = context.view(definition);
  const holds = (created: UnstructuredObject): boolean => {
    const subject = { operation: "CREATE", name, object: created, old: undefined, dryRun: options.dryRun } as const;
    return admissionHolds(context, admissionRequest(context, served, subject));
  };
  const { object: stored } = await decideWrite(
    context,
    { definition, key, name, dryRun: options.dryRun, holds },
    (current) => decideCreate(context, served, options, named(take(), name), current),
  );
  if (stored === undefined) throw plainError("the created object is gone");
  return showReady(view, stored);
}

function named(object: MutableObject, name: string): MutableObject {
  if (name !== "") object.metadata.name = name;
  return object;
}

function* decideCreate(
  context: RegistryContext,
  served: ServedRequest,
  options: WriteOptions,
  object: MutableObject,
  current: UnstructuredObject | undefined,
): Waits<UnstructuredObject> {
  const { definition } = served;
  const prepared = yield* prepareCreate(context, served, options, object);
  // Last, as upstream: who is refused for another reason does not learn that the name is taken.
  if (current !== undefined) throw new NameTaken(definition, current);
  const stored = context.view(definition).toStored(prepared);
  return stored instanceof Promise ? yield* settled(stored) : stored;
}

/** Everything that happens to a new object before it is stored, in the order of upstream. */
export function* prepareCreate(
  context: RegistryContext,
  served: ServedRequest,
  options: WriteOptions,
  object: MutableObject,
  managedFields?: MutableMeta["managedFields"],
): Waits<MutableObject> {
  const { definition, attributes, warnings } = served;
  const { strategy } = definition;
  const write = writeContext(context, served, options.dryRun);
  fillSystemFields(context, definition, object, attributes.namespace);
  dedupeOwnerReferences(object, warnings);
  if (hasStatus(definition)) delete object["status"];
  trackCreate(context, served, options, object, managedFields);
  const name = object.metadata.name ?? "";
  const subject = { operation: "CREATE", name, object, old: undefined, dryRun: options.dryRun } as const;
  const admission = admissionRequest(context, served, subject);
  const admit = admitting(context, admission);
  for (let wait = admit(); wait !== undefined; wait = admit()) yield wait;
  dedupeOwnerReferences(object, warnings);
  strategy.prepareForCreate?.(object, write);
  if (strategy.tracksGeneration === true || definition.custom) object.metadata.generation = 1;
  validateObject(definition, object, undefined, write);
  const validate = validating(context, admission);
  for (let wait = validate(); wait !== undefined; wait = validate()) yield wait;
  return object;
}

export function hasStatus(definition: ResourceDefinition): boolean {
  return definition.subresources.some(({ name }) => name === "status");
}

function trackCreate(
  context: RegistryContext,
  { definition, attributes }: ServedRequest,
  options: WriteOptions,
  object: MutableObject,
  managedFields: MutableMeta["managedFields"] | undefined,
): void {
  if (managedFields !== undefined) return setManagers(object.metadata, managedFields);
  const managers = trackUpdate({
    schema: definition.schema,
    live: undefined,
    object,
    manager: options.fieldManager,
    apiVersion: apiVersionOf(definition),
    subresource: attributes.subresource,
    time: timestamp(context.host.clock),
    resetFields: resetFieldsOf(definition, attributes.subresource),
  });
  setManagers(object.metadata, managers);
}

function fillSystemFields(
  context: RegistryContext,
  definition: ResourceDefinition,
  object: MutableObject,
  namespace: string,
): void {
  const { metadata } = object;
  if (!["", "0"].includes(metadata.resourceVersion ?? ""))
    throw plainError("resourceVersion should not be set on objects to be created");
  delete metadata.resourceVersion;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.selfLink;
  metadata.uid = context.host.random.uuid();
  metadata.creationTimestamp = timestamp(context.host.clock);
  if (definition.namespaced) metadata.namespace = namespace;
  else delete metadata.namespace;
}

export function checkNamespace(definition: ResourceDefinition, object: MutableObject, namespace: string): void {
  const given = object.metadata.namespace ?? "";
  if (!definition.namespaced) {
    if (given !== "") delete object.metadata.namespace;
    return;
  }
  if (given !== "" && given !== namespace) {
    throw badRequest(`the namespace of the provided object does not match the namespace sent on the request`);
  }
}

function generatedName(context: RegistryContext, base: string): string {
  return base.slice(0, generateNameBaseMax) + randomSuffix(context.host.random, generatedSuffixLength);
}

/** The name is in use; generateName tries another one, everybody else gets a 409. */
class NameTaken extends Error {
  readonly #definition: ResourceDefinition;
  readonly #existing: UnstructuredObject;

  constructor(definition: ResourceDefinition, existing: UnstructuredObject) {
    super("the name is taken");
    this.#definition = definition;
    this.#existing = existing;
  }

  asApiError(wasGenerated: boolean): Error {
    const { name = "", deletionTimestamp } = this.#existing.metadata;
    const prefix = deletionTimestamp === undefined ? "" : "object is being deleted: ";
    const suffix = wasGenerated ? ", the server was not able to generate a unique name for the object" : "";
    return alreadyExists(this.#definition, name, prefix, suffix);
  }
}
