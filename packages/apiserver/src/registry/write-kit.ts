/** What creates, updates and deletes share: the context of strategies and admission, and the write itself. */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import type { AdmissionRequest } from "../admission/admission-plugin.ts";
import type { ServedRequest } from "../request/served-request.ts";
import type { RegistryContext } from "./registry-context.ts";
import type { Waits } from "./decide-write.ts";
import type { WriteContext } from "./resource-definition.ts";

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

export function* admit({ admission }: RegistryContext, request: AdmissionRequest): Waits<void> {
  const { pass } = request;
  do {
    pass.isRepeated = pass.isNeededAgain;
    for (const plugin of admission) {
      const pending = plugin.admit?.(request);
      if (pending !== undefined) yield pending;
    }
  } while (pass.isNeededAgain && !pass.isRepeated);
  for (const plugin of admission) plugin.allot?.(request);
}

/** Whether an object that was admitted before a wait may still be stored. */
export function admissionHolds(context: RegistryContext, request: AdmissionRequest): boolean {
  return context.admission.every((plugin) => plugin.holds?.(request) ?? true);
}

export function* validateAdmission(context: RegistryContext, request: AdmissionRequest): Waits<void> {
  for (const plugin of context.admission) {
    const pending = plugin.validate?.(request);
    if (pending !== undefined) yield pending;
  }
}
