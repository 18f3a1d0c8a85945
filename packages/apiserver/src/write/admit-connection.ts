/**
 * Admission of requests that connect to a pod, a Service or a node: its plugins see the options of the
 * connection as the object.
 */
import { apiVersionOf, type JsonObject, type UnstructuredObject } from "@setpoint/apimachinery";
import type { RegistryContext } from "../registry/registry-context.ts";
import type { RequestAttributes } from "../request/request-attributes.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import { Warnings } from "../response/warnings.ts";
import { admissionRequest, admit, validate } from "./admission-chain.ts";

/** Throws the refusal of a plugin. Nothing can be stored, so the options stay as the client gave them. */
export async function admitConnection(
  context: RegistryContext,
  definition: ResourceDefinition,
  attributes: RequestAttributes,
  options: JsonObject,
): Promise<void> {
  const { name, subresource, user } = attributes;
  const kind = definition.subresources.find((each) => each.name === subresource)?.kind ?? definition;
  const object: UnstructuredObject = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: {}, ...options };
  const served = { definition, attributes, user, warnings: new Warnings() };
  const subject = { operation: "CONNECT", name, object, old: undefined, dryRun: false } as const;
  const request = admissionRequest(context, served, subject);
  await admit(context, request);
  await validate(context, request);
}
