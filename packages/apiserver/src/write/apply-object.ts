/** Server-side apply to an object or to its status: changes what is there, creates what is absent. */
import { apiVersionOf, cloneJson, isJsonObject, type UnstructuredObject } from "@setpoint/apimachinery";
import { timestamp } from "@setpoint/host";
import { decode, isDecodeError } from "@setpoint/schema";
import { applyPatch, describeObject } from "../apply/apply-patch.ts";
import { booleanParameter } from "../request/query-parameters.ts";
import { noMap } from "../request/body-subject.ts";
import type { ServedRequest } from "../registry/served-request.ts";
import { badRequest, conflict } from "../response/api-errors.ts";
import { checkNamespace } from "./create-object.ts";
import type { MutableObject } from "../registry/mutable-object.ts";
import { fillDefaults } from "../registry/object-codec.ts";
import { checkName, nameMissing } from "./put-object.ts";
import type { RegistryContext } from "../registry/registry-context.ts";
import { resetFieldsOf } from "./reset-fields.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import { type Change, type WriteAnswer, writeObject } from "./write.ts";
import type { WriteOptions } from "../request/write-options.ts";

const statusAlone: readonly string[] = ["status"];

export function applyObject(
  context: RegistryContext,
  served: ServedRequest,
  options: WriteOptions,
  body: unknown,
  duplicates: readonly string[],
): Promise<WriteAnswer> {
  const { definition, attributes, request } = served;
  reportDuplicates(served, options, duplicates);
  const patch = parseApplied(definition, body, attributes);
  const force = booleanParameter(request.query, "force");
  const { subresource } = attributes;
  const apply = (live: UnstructuredObject | undefined): Change => {
    const { object, managedFields } = applyPatch({
      schema: definition.schema,
      live,
      patch,
      manager: options.fieldManager,
      force,
      apiVersion: apiVersionOf(definition),
      kind: definition.kind,
      subresource,
      time: timestamp(context.host.clock),
      // Of a custom object the rest is put back as it is stored.
      only: subresource === "status" && definition.custom ? statusAlone : undefined,
      resetFields: resetFieldsOf(definition, subresource),
    });
    const own = typed(definition, object, patch);
    return { object: fillDefaults(definition, own), managedFields };
  };
  const create = (): Change => {
    // A user without the verb `create` must not create objects by a patch.
    context.authorize({ ...attributes, verb: "create" });
    const { uid, name = "" } = patch.metadata;
    if (uid !== undefined) {
      const message = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
      throw conflict(definition, attributes.name, message);
    }
    const made = apply(undefined);
    if (name === "") throw nameMissing(attributes.name);
    // A revision is a precondition on what is there; of what is not, the real server makes one all the same.
    delete made.object.metadata.resourceVersion;
    return made;
  };
  const mayCreate = subresource === "" ? { create } : {};
  return writeObject(context, served, options, {
    name: attributes.name,
    needsResourceVersion: false,
    update: apply,
    ...mayCreate,
  });
}

function reportDuplicates(
  { warnings }: ServedRequest,
  { fieldValidation }: WriteOptions,
  duplicates: readonly string[],
): void {
  if (fieldValidation === "Warn") for (const duplicate of duplicates) warnings.add(duplicate);
  if (fieldValidation !== "Strict" || duplicates.length === 0) return;
  const lines = ["error converting YAML to JSON: yaml: unmarshal errors:", ...duplicates].join("\n  ");
  throw badRequest(`error strict decoding YAML: ${lines}`);
}

/**
 * A client's body as a patch; `applyPatch` checks apiVersion and kind. Only what is to be created needs a
 * name of its own.
 */
export function parseApplied(
  definition: ResourceDefinition,
  body: unknown,
  { name, namespace }: { readonly name: string; readonly namespace: string },
): UnstructuredObject {
  const value = body ?? {};
  if (!isJsonObject(value)) throw noMap("error decoding YAML: error unmarshaling JSON: while decoding JSON", value);
  // Only metadata is needed here; the rest is checked with the schema, and copied where it is merged.
  const { metadata } = value;
  const patch = { ...value, metadata: isJsonObject(metadata) ? { ...metadata } : {} } as unknown as MutableObject;
  if ((patch.metadata.name ?? "") !== "") checkName(patch, name);
  checkNamespace(definition, patch, namespace);
  return patch;
}

/**
 * The merged object as its type has it: what is null in the patch is absent or a zero, and a number fits. The
 * registry's own copy.
 */
function typed(definition: ResourceDefinition, object: UnstructuredObject, patch: UnstructuredObject): MutableObject {
  if (definition.custom) return cloneJson(object) as MutableObject;
  try {
    const { value } = decode(definition.schema, object, { unknown: "prune", wrongTypes: "throw" });
    return value as MutableObject;
  } catch (error) {
    if (!isDecodeError(error)) throw error;
    const type = `${definition.group}/${definition.version}, Kind=${definition.kind}`;
    const what = `failed to convert new object (${describeObject(patch)}) to proper version`;
    // The client's fault, although the real server answers with the code of its own.
    throw badRequest(`${what}: unable to convert unstructured object to ${type}: ${error.message}`);
  }
}
