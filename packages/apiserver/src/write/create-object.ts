import type { BodyText } from "../request/body-decoder.ts";
import type { UnstructuredObject } from "@setpoint/apimachinery";
import { randomSuffix } from "@setpoint/host";
import type { MutableObject } from "../registry/mutable-object.ts";
import { decodeObjects } from "../registry/object-codec.ts";
import type { RegistryContext } from "../registry/registry-context.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import type { ServedRequest } from "../registry/served-request.ts";
import { parseWriteOptions } from "../request/write-options.ts";
import { badRequest } from "../response/api-errors.ts";
import { NameTaken } from "./name-taken.ts";
import { writeObject } from "./write.ts";

/** Attempts to find a free name for a generateName, as in upstream (RetryGenerateName). */
const generateNameAttemptsMax = 8;
const generatedSuffixLength = 5;
/** A generated name is a label of at most 63 characters. */
const generateNameBaseMax = 58;

/** POST to a collection. */
export async function createObject(
  context: RegistryContext,
  served: ServedRequest,
  body: unknown,
  text: BodyText,
): Promise<UnstructuredObject> {
  const { definition, request, attributes, warnings } = served;
  const options = parseWriteOptions(request.query, request.headers?.["user-agent"] ?? "", "CreateOptions");
  const settings = { fieldValidation: options.fieldValidation, warnings, ...text };
  const { first, take } = decodeObjects(definition, body, settings);
  checkNamespace(definition, first, attributes.namespace);
  const { name: given = "", generateName = "" } = first.metadata;
  const generates = given === "" && generateName !== "";
  for (let attempt = 1; ; attempt++) {
    const name = generates ? generatedName(context, generateName) : given;
    const create = () => ({ object: named(take(), name) });
    try {
      const { object } = await writeObject(context, served, options, { name, create, needsResourceVersion: false });
      return object;
    } catch (error) {
      if (!(error instanceof NameTaken)) throw error;
      if (!generates || attempt === generateNameAttemptsMax) throw error.asApiError(generates);
    }
  }
}

function named(object: MutableObject, name: string): MutableObject {
  if (name !== "") object.metadata.name = name;
  return object;
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
