/** Declares a kind once; everything else about it is derived. */
import {
  SetpointError,
  apiVersionOf,
  arrange,
  type KubeObject,
  type KindNames,
  type ObjectInit,
  type ObjectInitMeta,
} from "@setpoint/apimachinery";
import type { z } from "zod";
import { compileKindRules } from "./compile-kind-rules.ts";
import { convertObject, type ConvertedVersion } from "./conversion.ts";
import type { CrdOptions, CustomResourceDefinitionManifest } from "./custom-resource-definition.ts";
import type { DeepReadonly, FieldPath } from "./field-paths.ts";
import { structuralFromZod } from "./from-zod.ts";
import { type DeclaredVersion, manifestOf } from "./kind-manifest.ts";
import { parseObject } from "./parse-object.ts";
import type { PrinterColumn } from "./printer-column.ts";
import type { StructuralSchema, ValidationRule } from "./structural-schema.ts";
import { validateStructural } from "./validate-structural.ts";

type Status = z.ZodObject | undefined;

type StatusOf<S extends Status> = S extends z.ZodObject ? DeepReadonly<z.output<S>> : never;

/** An object of a kind whose spec and status zod describes. */
export interface KindObject<Spec, StatusShape> extends KubeObject {
  readonly spec: Spec;
  readonly status?: StatusShape;
}

/** The paths of a kind's own fields: `spec.replicas`, `status.phase`. */
export type KindPath<Spec extends z.ZodObject, S extends Status> =
  | `spec.${FieldPath<z.output<Spec>>}`
  | (S extends z.ZodObject ? `status.${FieldPath<z.output<S>>}` : never);

/** The schemas of a kind's other versions, by their names. */
export type OtherSpecs = Readonly<Record<string, z.ZodObject>>;

/**
 * A version beside the one that is stored. Two functions convert objects from and to the kind's own version.
 * An annotation keeps the fields that one version lacks, so no round trip loses data. `kindLaws` of the
 * testing package checks this.
 */
export interface KindVersion<Spec extends z.ZodObject, HubSpec extends z.ZodObject> {
  readonly spec: Spec;
  /** Default: that of the kind. */
  readonly status?: z.ZodObject;
  /** From this version to the kind's own. */
  readonly up: (spec: DeepReadonly<z.output<Spec>>) => DeepReadonly<z.input<HubSpec>>;
  readonly down: (spec: DeepReadonly<z.output<HubSpec>>) => DeepReadonly<z.input<Spec>>;
  /** Only when its status differs from the kind's own. */
  readonly statusUp?: (status: Readonly<Record<string, unknown>>) => object;
  readonly statusDown?: (status: Readonly<Record<string, unknown>>) => object;
  /** Whether clients may still use it; default true. */
  readonly served?: boolean;
  /** Every request for it is answered with a warning; a text replaces the server's own. */
  readonly deprecated?: boolean | string;
  readonly printerColumns?: Readonly<Record<string, PrinterColumn<`spec.${FieldPath<z.output<Spec>>}`>>>;
  readonly rules?: readonly ValidationRule[];
}

/** The declaration of a kind: its names, its schemas, and what kubectl and autoscalers read from it. */
export interface KindOptions<Spec extends z.ZodObject, S extends Status, Others extends OtherSpecs = OtherSpecs> {
  readonly group: string;
  /** The version that is stored, and that controllers work with. */
  readonly version: string;
  /** Other versions that clients may use. */
  readonly versions?: { readonly [Name in keyof Others]: KindVersion<Others[Name], Spec> };
  /** Every request is answered with a warning; a text replaces the server's own. */
  readonly deprecated?: boolean | string;
  readonly kind: string;
  /** Default: the kind in lower case, in the plural of English. */
  readonly plural?: string;
  readonly shortNames?: readonly string[];
  /** Groups of kinds that `kubectl get` knows, for instance `all`. */
  readonly categories?: readonly string[];
  /** Default: Namespaced. */
  readonly scope?: "Namespaced" | "Cluster";
  readonly description?: string;
  readonly spec: Spec;
  readonly status?: S;
  /** Where `kubectl scale` and autoscalers find their numbers: paths within spec, status and status. */
  readonly scale?: {
    readonly specReplicas: FieldPath<z.output<Spec>>;
    readonly statusReplicas: S extends z.ZodObject ? FieldPath<z.output<S>> : never;
    readonly selector?: S extends z.ZodObject ? FieldPath<z.output<S>> : never;
  };
  /** Columns of `kubectl get` after the name; without any, kubectl prints the age. */
  readonly printerColumns?: Readonly<Record<string, PrinterColumn<KindPath<Spec, S>>>>;
  /** Fields that a field selector may name. */
  readonly selectableFields?: readonly KindPath<Spec, S>[];
  /** CEL rules over the whole object. */
  readonly rules?: readonly ValidationRule[];
}

/** What an author writes: metadata beside the spec, and in the spec only what has no default. */
export type KindInit<Spec extends z.ZodObject> = ObjectInitMeta & { readonly spec: DeepReadonly<z.input<Spec>> };

/**
 * A kind made by `defineKind`: a `Kind` that checks what it builds.
 *
 * Guarantees: what the builder and `parse` return is complete (defaults filled) and valid as the server would
 * find it at its creation; rules that compare with the past hold on updates only, on the server. Errors:
 * `ERR_OBJECT_INVALID`, naming the kind, the object and each field.
 */
export interface DefinedKind<T extends KubeObject, Init> extends KindNames {
  (init: Init): T;
  readonly apiVersion: string;
  /** Carries `T` for `ObjectOf`; never set. */
  readonly objectType?: T;
  /** The schema of the whole object. */
  readonly schema: StructuralSchema;
  /** All versions, the kind's own first. */
  readonly versions: readonly KindVersionSchema[];
  /**
   * The complete CustomResourceDefinition. A kind with several versions needs a conversion webhook: without
   * `conversion` the CRD declares the other versions, but does not serve them.
   */
  crd(options?: CrdOptions): CustomResourceDefinitionManifest;
  /** The object in another version of the kind. Errors: `ERR_CONVERSION`. */
  convert(object: KubeObject, apiVersion: string): KubeObject;
  /** Takes an object from outside: checks it and fills its defaults. Unknown fields are errors. */
  parse(value: unknown): T;
}

/** One version of a kind. */
export interface KindVersionSchema {
  readonly apiVersion: string;
  readonly schema: StructuralSchema;
}

/**
 * Declares a kind. The builder, the parser, the CRD and the static types follow from it.
 *
 * Errors: throws when the schema is not structural or a rule does not compile, and names each field at fault.
 */
export function defineKind<
  const Spec extends z.ZodObject,
  const S extends Status = undefined,
  const Others extends OtherSpecs = Readonly<Record<never, never>>,
>(
  options: KindOptions<Spec, S, Others>,
): DefinedKind<KindObject<DeepReadonly<z.output<Spec>>, StatusOf<S>>, KindInit<Spec>> {
  type T = KindObject<DeepReadonly<z.output<Spec>>, StatusOf<S>>;
  const { group, version, kind, scope = "Namespaced" } = options;
  const apiVersion = apiVersionOf(options);
  const plural = options.plural ?? pluralOf(kind);
  const schema = objectSchema(options);
  requireStructural(kind, schema);
  const others = otherVersions(options);
  const names = { ...options, plural, scope };
  const rules = compileKindRules(kind, schema);
  const plan = { group, kind, hub: version, others };
  const checked = { apiVersion, kind, schema, rules, spec: options.spec, status: options.status };
  // Parsing has checked every field of T by the schemas that T is inferred from.
  const build = (init: KindInit<Spec>): T =>
    parseObject(arrange<T>(apiVersion, kind, init as unknown as ObjectInit<T>), checked) as unknown as T;
  const members = {
    group,
    version,
    kind,
    plural,
    namespaced: scope === "Namespaced",
    apiVersion,
    schema,
    versions: [{ apiVersion, schema }, ...others.map((each) => each.of)],
    crd: ({ conversion }: CrdOptions = {}): CustomResourceDefinitionManifest =>
      manifestOf(names, schema, others, conversion),
    convert: (object: KubeObject, wanted: string): KubeObject => convertObject(plan, object, wanted),
    parse: (value: unknown): T => parseObject(value, checked) as unknown as T,
  };
  // `name` of a function is read-only, so the members are defined instead of assigned.
  for (const [key, value] of Object.entries(members)) Object.defineProperty(build, key, { value, enumerable: true });
  return build as DefinedKind<T, KindInit<Spec>>;
}

/** The versions without their types: the compiler has checked that the functions fit their schemas. */
type UntypedVersion = Omit<KindVersion<z.ZodObject, z.ZodObject>, "up" | "down"> &
  Pick<ConvertedVersion, "up" | "down">;

interface OtherVersion extends ConvertedVersion, DeclaredVersion {
  readonly of: KindVersionSchema;
}

function otherVersions(options: {
  readonly group: string;
  readonly kind: string;
  readonly version: string;
  readonly description?: string;
  readonly status?: Status;
  readonly versions?: unknown;
}): readonly OtherVersion[] {
  const { group, kind, description, status } = options;
  const versions = (options.versions ?? {}) as Readonly<Record<string, UntypedVersion>>;
  return Object.entries(versions).map(([name, version]) => {
    if (name === options.version) {
      const why = `version "${name}" is the kind's own, expected only others in \`versions\``;
      throw new SetpointError("ERR_CONVERSION", `Cannot define kind "${kind}": ${why}`);
    }
    const own = version.status ?? status;
    const schema = objectSchema({
      spec: version.spec,
      ...(description === undefined ? {} : { description }),
      ...(own === undefined ? {} : { status: own }),
      ...(version.rules === undefined ? {} : { rules: version.rules }),
    });
    requireStructural(`${kind} ${name}`, schema);
    compileKindRules(`${kind} ${name}`, schema);
    return { ...version, name, schema, of: { apiVersion: apiVersionOf({ group, version: name }), schema } };
  });
}

interface ObjectParts {
  readonly description?: string;
  readonly spec: z.ZodObject;
  readonly status?: Status;
  readonly rules?: readonly ValidationRule[];
}

function objectSchema({ description, spec, status, rules = [] }: ObjectParts): StructuralSchema {
  return {
    type: "object",
    ...(description === undefined ? {} : { description }),
    required: ["spec"],
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      spec: structuralFromZod(spec, "spec"),
      ...(status === undefined ? {} : { status: structuralFromZod(status, "status") }),
    },
    ...(rules.length === 0 ? {} : { "x-kubernetes-validations": rules }),
  };
}

/**
 * What `field` adds may still not fit what it is added to: a list type on a string, keys that no item has.
 */
function requireStructural(kind: string, schema: StructuralSchema): void {
  const errors = validateStructural(schema);
  if (errors.length === 0) return;
  const texts = errors.map(({ field, message }) => `${field}: ${message}`);
  throw new SetpointError("ERR_SCHEMA_NOT_STRUCTURAL", `Cannot define kind "${kind}": ${texts.join("; ")}`);
}

/** `Policy` → `policies`, `Proxy` → `proxies`, `Address` → `addresses`, `Gateway` → `gateways`. */
function pluralOf(kind: string): string {
  const singular = kind.toLowerCase();
  if (/(s|x|z|ch|sh)$/.test(singular)) return `${singular}es`;
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`;
  return `${singular}s`;
}
