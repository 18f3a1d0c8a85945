import type { BodyText } from "../request/body-decoder.ts";
import type { ApiError, UnstructuredObject } from "@setpoint/apimachinery";
import type { ServedRequest } from "../registry/served-request.ts";
import { badRequest } from "../response/api-errors.ts";
import { checkNamespace } from "./create-object.ts";
import { decodeObjects } from "../registry/object-codec.ts";
import type { RegistryContext } from "../registry/registry-context.ts";
import { type Change, type WriteAnswer, writeObject } from "./write.ts";
import { parseWriteOptions } from "../request/write-options.ts";

/** PUT of an object or of its status. */
export function putObject(
  context: RegistryContext,
  served: ServedRequest,
  body: unknown,
  text: BodyText,
): Promise<WriteAnswer> {
  const { definition, attributes, request, warnings } = served;
  const options = parseWriteOptions(request.query, request.headers?.["user-agent"] ?? "", "UpdateOptions");
  const settings = { fieldValidation: options.fieldValidation, warnings, ...text };
  const { first, take } = decodeObjects(definition, body, settings);
  checkName(first, attributes.name);
  checkNamespace(definition, first, attributes.namespace);
  const mayCreate = definition.strategy.allowsCreateOnUpdate === true && attributes.subresource === "";
  const change = (): Change => ({ object: take() });
  const create = (): Change => {
    context.authorize({ ...attributes, verb: "create" });
    return change();
  };
  return writeObject(context, served, options, {
    name: attributes.name,
    needsResourceVersion: true,
    update: change,
    ...(mayCreate ? { create } : {}),
  });
}

/** The object has no name, so it cannot be compared with the URL's. */
export function nameMissing(name: string): ApiError {
  return badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
}

export function checkName(object: UnstructuredObject, name: string): void {
  const given = object.metadata.name ?? "";
  if (given === name) return;
  if (given === "") throw nameMissing(name);
  throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
}
