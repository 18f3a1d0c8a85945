import { apiVersionOf, type UnstructuredObject } from "@setpoint/apimachinery";
import { timestamp } from "@setpoint/host";
import { trackUpdate } from "../apply/track-update.ts";
import type { MutableMeta, MutableObject } from "../registry/mutable-object.ts";
import type { RegistryContext } from "../registry/registry-context.ts";
import type { ServedRequest } from "../registry/served-request.ts";
import type { WriteOptions } from "../request/write-options.ts";
import { resetFieldsOf } from "./reset-fields.ts";

/** The managedFields of a write that is no apply: what it adds or changes belongs to its field manager. */
export function managersOf(
  context: RegistryContext,
  { definition, attributes }: ServedRequest,
  { fieldManager }: WriteOptions,
  live: UnstructuredObject | undefined,
  object: MutableObject,
): NonNullable<MutableMeta["managedFields"]> {
  const { subresource } = attributes;
  return trackUpdate({
    schema: definition.schema,
    live,
    object,
    manager: fieldManager,
    apiVersion: apiVersionOf(definition),
    subresource,
    time: timestamp(context.host.clock),
    resetFields: resetFieldsOf(definition, subresource),
  });
}
