/** What creates, updates and deletes share: the context of strategies and admission, and the write itself. */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import type { AdmissionRequest } from "../registry/admission-plugin.ts";
import type { ServedRequest } from "../registry/served-request.ts";
import type { RegistryContext } from "../registry/registry-context.ts";
import type { WriteContext } from "../registry/resource-definition.ts";

export function writeContext(context: RegistryContext, served: ServedRequest, dryRun: boolean): WriteContext {
  const { clock, random } = context.host;
  const { user, attributes, warnings } = served;
  const { subresource } = attributes;
  return { clock, random, user, subresource, dryRun, warn: (message) => warnings.add(message) };
}

export interface AdmissionSubject {
  readonly operation: AdmissionRequest["operation"];
  readonly name: string;
  readonly object: UnstructuredObject | undefined;
  readonly old: UnstructuredObject | undefined;
  readonly dryRun: boolean;
}

export function admissionRequest(
  context: RegistryContext,
  served: ServedRequest,
  subject: AdmissionSubject,
): AdmissionRequest {
  const { definition, attributes, user, warnings } = served;
  const { subresource, namespace } = attributes;
  const { clock, random } = context.host;
  const warn = (message: string): void => warnings.add(message);
  const pass = { isRepeated: false, isNeededAgain: false };
  return { ...subject, definition, subresource, namespace, user, reader: context.reader, clock, random, warn, pass };
}

/** Asks on; returns what has to be waited for before it is called again, and undefined when all have been asked. */
export type Asking = () => Promise<void> | undefined;

/** Lets the plugins change the object. Hardly ever anybody has to be waited for, so there are no steps of its own to run through. */
export function admitting({ admission }: RegistryContext, request: AdmissionRequest): Asking {
  const { pass } = request;
  let next = 0;
  return () => {
    for (;;) {
      while (next < admission.length) {
        const pending = admission[next++]?.admit?.(request);
        if (pending !== undefined) return pending;
      }
      if (pass.isRepeated || !pass.isNeededAgain) break;
      pass.isRepeated = true;
      next = 0;
    }
    for (const plugin of admission) plugin.allot?.(request);
    return undefined;
  };
}

/** Whether an object that was admitted before a wait may still be stored. */
export function admissionHolds(context: RegistryContext, request: AdmissionRequest): boolean {
  return context.admission.every((plugin) => plugin.holds?.(request) ?? true);
}

/** Asks the plugins whether what they see may be. */
export function validating({ admission }: RegistryContext, request: AdmissionRequest): Asking {
  let next = 0;
  return () => {
    while (next < admission.length) {
      const pending = admission[next++]?.validate?.(request);
      if (pending !== undefined) return pending;
    }
    return undefined;
  };
}
