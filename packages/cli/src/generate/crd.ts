/**
 * What a kind's types are made from: the parts of a CustomResourceDefinition that say how its objects look.
 */
import { SetpointError } from "@setpoint/apimachinery";
import { schemaFault, type CrdSchema } from "./crd-schema.ts";

export interface Crd {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Those that are served, the stored one first. */
  readonly versions: readonly CrdVersion[];
}

export interface CrdVersion {
  readonly name: string;
  /** The warning that the server sends to clients of a deprecated version. */
  readonly deprecation: string | undefined;
  readonly schema: CrdSchema;
}

/** A manifest as far as this module reads it; nothing of it is certain. */
interface Manifest {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly items?: unknown;
  readonly metadata?: { readonly name?: unknown };
  readonly spec?: {
    readonly group?: unknown;
    readonly scope?: unknown;
    readonly names?: { readonly kind?: unknown; readonly plural?: unknown };
    readonly versions?: unknown;
  };
}

interface ManifestVersion {
  readonly name?: unknown;
  readonly served?: unknown;
  readonly storage?: unknown;
  readonly deprecated?: unknown;
  readonly deprecationWarning?: unknown;
  readonly schema?: { readonly openAPIV3Schema?: unknown } | null;
}

/**
 * The CustomResourceDefinitions among some values; other objects beside them are passed over. Throws
 * `ERR_NOT_A_CRD`.
 */
export function crdsAmong(values: readonly unknown[], source: string): readonly Crd[] {
  const manifests = values.flatMap(itemsOf);
  const crds = manifests.filter(({ kind }) => kind === "CustomResourceDefinition").map((each) => crdOf(each, source));
  if (crds.length > 0) return crds;
  const found = [
    ...new Set(manifests.map(({ kind }) => (typeof kind === "string" ? kind : "something without a kind"))),
  ];
  const state = found.length === 0 ? "it holds no object" : `it holds ${found.join(", ")}`;
  throw notACrd(source, `${state}, expected a CustomResourceDefinition`);
}

function itemsOf(value: unknown): readonly Manifest[] {
  if (value === null || value === undefined) return [];
  if (typeof value !== "object" || Array.isArray(value)) return [{}];
  const manifest: Manifest = value;
  return manifest.kind === "List" && Array.isArray(manifest.items) ? manifest.items.flatMap(itemsOf) : [manifest];
}

function crdOf(manifest: Manifest, source: string): Crd {
  const { apiVersion, metadata, spec } = manifest;
  const name = text(metadata?.name) ?? "without a name";
  if (apiVersion !== "apiextensions.k8s.io/v1") {
    throw notACrd(
      source,
      `the CustomResourceDefinition "${name}" is of ${String(apiVersion)}, expected apiextensions.k8s.io/v1`,
    );
  }
  const [group, kind, plural] = [text(spec?.group), text(spec?.names?.kind), text(spec?.names?.plural)];
  const versions = Array.isArray(spec?.versions)
    ? (spec.versions as readonly (ManifestVersion | null)[]).filter((each) => each !== null)
    : [];
  if (group === undefined || kind === undefined || plural === undefined) {
    throw notACrd(
      source,
      `the CustomResourceDefinition "${name}" lacks one of spec.group, spec.names.kind and spec.names.plural`,
    );
  }
  const served = versions.filter((version) => version.served !== false && text(version.name) !== undefined);
  if (served.length === 0) throw notACrd(source, `the CustomResourceDefinition "${name}" serves no version`);
  const storedFirst = [
    ...served.filter(({ storage }) => storage === true),
    ...served.filter(({ storage }) => storage !== true),
  ];
  return {
    group,
    kind,
    plural,
    namespaced: spec?.scope !== "Cluster",
    versions: storedFirst.map((each) => versionOf(each, name, source)),
  };
}

function versionOf(version: ManifestVersion, crd: string, source: string): CrdVersion {
  const { name, deprecated, deprecationWarning } = version;
  const deprecation = deprecated === true ? (text(deprecationWarning) ?? "This version is deprecated.") : undefined;
  const schema = version.schema?.openAPIV3Schema ?? unknownFields;
  const fault = schemaFault(schema, "openAPIV3Schema");
  if (fault !== undefined) {
    throw notACrd(source, `in version ${String(name)} of the CustomResourceDefinition "${crd}", ${fault}`);
  }
  return { name: String(name), deprecation, schema };
}

/** Without a schema nothing is known of the fields, as if it said so. */
const unknownFields: CrdSchema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function notACrd(source: string, state: string): SetpointError {
  return new SetpointError("ERR_NOT_A_CRD", `Cannot generate types from "${source}": ${state}`);
}
