import type { FieldError, UnstructuredObject, UserInfo } from "@setpoint/apimachinery";
import type { Clock, Random } from "@setpoint/host";
import type { DecodeError, StructuralSchema } from "@setpoint/schema";
import type { TableColumn } from "../response/table-column.ts";

/** The verbs of resource requests, as discovery and RBAC name them. */
export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

/**
 * A subresource with the kind and the verbs that discovery reports for it; the kind's group may be another
 * one.
 */
export interface SubresourceDefinition {
  readonly name: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly verbs: readonly string[];
}

/** What a strategy may know of the request that it works for. */
export interface WriteContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly user: UserInfo;
  /** "" for the main resource, else `status`, `scale`, … */
  readonly subresource: string;
  readonly dryRun: boolean;
  /** Adds a `Warning: 299` header to the answer. */
  warn(message: string): void;
}

/**
 * What distinguishes one kind from another in the way of a write; everything common is in the registry.
 * Objects are plain mutable JSON at this point (the registry owns the copy); functions change them in place.
 */
export interface Strategy {
  /** Fills what the API fills (Go defaulting functions), on every decode. */
  setDefaults?(object: UnstructuredObject): void;
  /** Who creates an object sets its status too (a Node's); otherwise the registry wipes it. */
  readonly createsStatus?: boolean;
  /** Wipes what a creator may not set. */
  prepareForCreate?(object: UnstructuredObject, context: WriteContext): void;
  /**
   * Keeps what this request may not change (the registry keeps immutable metadata, and status or spec by
   * subresource).
   */
  prepareForUpdate?(object: UnstructuredObject, old: UnstructuredObject, context: WriteContext): void;
  /** Validation beyond the schema; `old` is absent on create. */
  validate?(
    object: UnstructuredObject,
    old: UnstructuredObject | undefined,
    context: WriteContext,
  ): readonly FieldError[];
  /** What a client is warned of when it has written a valid object. */
  warnings?(object: UnstructuredObject, old: UnstructuredObject | undefined): readonly string[];
  /** What the name must be; default: DNS-1123 subdomain. */
  readonly nameRule?: "subdomain" | "label" | "label1035" | "pathSegment" | "address";
  /** metadata.generation is 1 on create and grows when anything outside metadata and status changes. */
  readonly tracksGeneration?: boolean;
  /** Changes that count as a generation beside those of the desired state (annotations of a Deployment). */
  countsToo?(object: UnstructuredObject, old: UnstructuredObject): boolean;
  /** Labels are not the status writer's to change or to own (a Deployment's). */
  readonly statusKeepsLabels?: boolean;
  /** PUT to a name that does not exist creates it. */
  readonly allowsCreateOnUpdate?: boolean;
  /** PUT without a resourceVersion is accepted. */
  readonly allowsUnconditionalUpdate?: boolean;
  /** DELETE answers the object, not a Status, also when it is gone. */
  readonly returnsDeletedObject?: boolean;
  /**
   * Seconds between the mark and the removal when an object of this kind is deleted; undefined: removed at
   * once.
   */
  deletionGraceSeconds?(object: UnstructuredObject, requested: number | undefined): number | undefined;
  /** Changes the object when it is marked as deleted (a Namespace's phase). */
  onMarkedDeleted?(object: UnstructuredObject): void;
  /** Finalizers beside metadata.finalizers that keep an object (a Namespace's spec.finalizers). */
  hasOtherFinalizers?(object: UnstructuredObject): boolean;
  readonly defaultPropagation?: "Background" | "Orphan";
}

/** JSON paths of the scale subresource of a kind, in the form of a CRD (`.spec.replicas`). */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  /** A selector in string form (CRDs) or a LabelSelector object (built-in kinds). */
  readonly labelSelectorPath?: string;
}

/** Converts objects of one kind between its versions, all of one call to the same version, in their order. */
export interface ObjectConverter {
  convert(objects: readonly UnstructuredObject[], apiVersion: string): Promise<readonly UnstructuredObject[]>;
}

/**
 * One resource in one version: the registry is a table of these, built-in kinds and CRDs alike.
 */
export interface ResourceDefinition {
  readonly group: string;
  readonly version: string;
  /** Plural, as in URLs. */
  readonly resource: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly SubresourceDefinition[];
  readonly scale?: ScalePaths;
  readonly schema: StructuralSchema;
  /**
   * Upstream's message for a value of the wrong type; undefined where upstream's text is unknown.
   */
  readonly describeMisfit?: (misfit: Pick<DecodeError, "path" | "found" | "value">) => string | undefined;
  /** Whether the server has this built-in kind. */
  readonly isKind?: (apiVersion: string, kind: string) => boolean;
  /**
   * Objects of CRDs: unknown fields are pruned by the structural schema, strategic merge patch is refused
   * with 415.
   */
  readonly custom: boolean;
  readonly strategy: Strategy;
  /** Columns after Name; when absent: Age (Name and Age for everything without a printer). */
  readonly columns: readonly TableColumn[];
  /** Field selectors beyond metadata.name and metadata.namespace. */
  readonly selectableFields: Readonly<Record<string, (object: UnstructuredObject) => string>>;
  /** Where objects are stored: `/pods`, `/apps/deployments`; equal for several versions of one resource. */
  readonly storagePrefix: string;
  /** The version in which objects are stored; conversion happens through `convert` when this one differs. */
  readonly storageVersion: string;
  /**
   * From the stored form to this version and back; absent: only apiVersion is changed. Neither changes what
   * it is given, which may be frozen, and what it makes may share its parts.
   */
  readonly convert?: {
    fromStored(object: UnstructuredObject): UnstructuredObject;
    toStored(object: UnstructuredObject): UnstructuredObject;
  };
  /**
   * The schemas of all versions of a custom kind, by apiVersion: what one does not know is lost when it is
   * stored in it.
   */
  readonly versionSchemas?: ReadonlyMap<string, StructuralSchema>;
  /** The asynchronous converter (the conversion webhook of a CRD); excludes `convert`. */
  readonly converter?: ObjectConverter;
  /** Sent as a Warning with every request (CRD versions and built-in kinds that are deprecated). */
  readonly deprecationWarning?: string;
}

export function hasStatus({ subresources }: ResourceDefinition): boolean {
  return subresources.some(({ name }) => name === "status");
}
