/** What creates, updates and deletes share: the context of strategies and admission, and the write itself. */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import type { AdmissionRequest } from "../admission/admission-plugin.ts";
import type { ServedRequest } from "../request/served-request.ts";
import type { StorageDecision, StorageKey, StorageResult } from "../storage/storage.ts";
import type { RegistryContext } from "./registry-context.ts";
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
  return { ...subject, definition, subresource, namespace, user, reader: context.reader, clock, random, warn };
}

export function admit(context: RegistryContext, request: AdmissionRequest): void {
  for (const plugin of context.admission) plugin.admit?.(request);
}

export function validateAdmission(context: RegistryContext, request: AdmissionRequest): void {
  for (const plugin of context.admission) plugin.validate?.(request);
}

/**
 * Writes, or with dryRun only decides: the decision is made on what is stored now and its outcome is thrown away.
 */
export async function decideWrite(
  context: RegistryContext,
  key: StorageKey,
  dryRun: boolean,
  decide: StorageDecision,
): Promise<StorageResult> {
  if (!dryRun) return context.storage.write(key, decide);
  const current = context.storage.get(key);
  const decision = decide(current);
  if (decision === "keep" || decision === "delete") return { object: current, changed: decision === "delete" };
  return { object: decision, changed: true };
}
