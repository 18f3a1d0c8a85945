/**
 * A CustomResourceDefinition as its schema guarantees it: the typed view of the JSON in the store and in
 * requests.
 */
import type { Condition, ObjectMeta, UnstructuredObject } from "@setpoint/apimachinery";
import type { StructuralSchema } from "@setpoint/schema";
import type { WebhookClientConfig } from "../webhook-client-config.ts";

export interface CrdNames {
  readonly plural: string;
  readonly singular?: string;
  readonly kind: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

export interface CrdColumn {
  readonly name?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath?: string;
}

export interface CrdScale {
  readonly specReplicasPath?: string;
  readonly statusReplicasPath?: string;
  readonly labelSelectorPath?: string;
}

export interface CrdSubresources {
  readonly status?: unknown;
  readonly scale?: CrdScale;
}

export interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: StructuralSchema };
  readonly subresources?: CrdSubresources;
  readonly additionalPrinterColumns?: readonly CrdColumn[];
  readonly selectableFields?: readonly { readonly jsonPath?: string }[];
}

export interface CrdConversion {
  readonly strategy?: string;
  readonly webhook?: {
    readonly conversionReviewVersions?: readonly string[];
    readonly clientConfig?: WebhookClientConfig;
  };
}

export interface CrdSpec {
  readonly group: string;
  readonly scope: string;
  readonly names: CrdNames;
  readonly versions: readonly CrdVersion[];
  readonly conversion?: CrdConversion;
  readonly preserveUnknownFields?: boolean;
}

export type CrdCondition = Omit<Condition, "observedGeneration">;

export interface CrdStatus {
  readonly conditions?: readonly CrdCondition[];
  readonly acceptedNames?: Partial<CrdNames>;
  readonly storedVersions?: readonly string[];
}

export interface Crd {
  readonly metadata: ObjectMeta;
  readonly spec: CrdSpec;
  readonly status?: CrdStatus;
}

/** Where CRDs are stored. */
export const crdPrefix = "/apiextensions.k8s.io/customresourcedefinitions";
/** Keeps a deleted CRD until its instances are gone. */
export const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

/** The typed view; gaps that a request can have (validation reports them) are filled with empty values. */
export function parseCrd(object: UnstructuredObject): Crd {
  // The schema of the kind has checked the types before any caller reads them.
  const spec = (object["spec"] ?? {}) as Partial<CrdSpec>;
  const status = object["status"] as CrdStatus | undefined;
  const names = { plural: "", kind: "", ...spec.names };
  const filled = { group: "", scope: "", ...spec, names, versions: spec.versions ?? [] };
  return { metadata: object.metadata, spec: filled, ...(status === undefined ? {} : { status }) };
}

export function findCondition(crd: Crd, type: string): CrdCondition | undefined {
  return crd.status?.conditions?.find((each) => each.type === type);
}

export function isConditionTrue(crd: Crd, type: string): boolean {
  return findCondition(crd, type)?.status === "True";
}

/** The conditions with one set; the time of transition moves only when the status does. */
export function withCondition(
  conditions: readonly CrdCondition[],
  condition: Omit<CrdCondition, "lastTransitionTime">,
  now: string,
): readonly CrdCondition[] {
  const old = conditions.find((each) => each.type === condition.type);
  const lastTransitionTime = old?.status === condition.status ? old.lastTransitionTime : now;
  // The order of fields is that of a real server's JSON.
  const { type, status, reason, message } = condition;
  const made = { type, status, lastTransitionTime, reason, message };
  return old === undefined ? [...conditions, made] : conditions.map((each) => (each === old ? made : each));
}
