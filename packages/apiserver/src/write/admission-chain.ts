/** Runs the admission plugins of a server over one request, in their order. */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import type { AdmissionRequest } from "../registry/admission-plugin.ts";
import type { RegistryContext } from "../registry/registry-context.ts";
import type { ServedRequest } from "../registry/served-request.ts";

export interface AdmissionSubject {
  readonly operation: AdmissionRequest["operation"];
  readonly name: string;
  readonly object: UnstructuredObject | undefined;
  readonly old: UnstructuredObject | undefined;
  readonly dryRun: boolean;
}

export function admissionRequest(
  context: RegistryContext,
  served: Pick<ServedRequest, "definition" | "attributes" | "user" | "warnings">,
  subject: AdmissionSubject,
): AdmissionRequest {
  const { definition, attributes, user, warnings } = served;
  const { subresource, namespace } = attributes;
  const { clock, random } = context.host;
  const warn = (message: string): void => warnings.add(message);
  const pass = { isRepeated: false, isNeededAgain: false };
  return { ...subject, definition, subresource, namespace, user, reader: context.reader, clock, random, warn, pass };
}

/**
 * Mutating admission: the plugins may change the object. They run twice when one changed it after others had
 * seen it.
 */
export async function admit({ admission }: RegistryContext, request: AdmissionRequest): Promise<void> {
  const { pass } = request;
  for (const plugin of admission) if (plugin.admit !== undefined) await plugin.admit(request);
  if (pass.isNeededAgain) {
    pass.isRepeated = true;
    for (const plugin of admission) if (plugin.admit !== undefined) await plugin.admit(request);
  }
  for (const plugin of admission) plugin.allocate?.(request);
}

/** Validating admission: the plugins may reject. */
export async function validate({ admission }: RegistryContext, request: AdmissionRequest): Promise<void> {
  for (const plugin of admission) if (plugin.validate !== undefined) await plugin.validate(request);
}

/** Whether an admitted object may still be stored, now that others may have been stored. */
export function stillHolds({ admission }: RegistryContext, request: AdmissionRequest): boolean {
  return admission.every((plugin) => plugin.stillHolds?.(request) ?? true);
}
