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
import type { CustomResourceDefinitionManifest } from "./custom-resource-definition.ts";
import type { DeepReadonly, FieldPath } from "./field-paths.ts";
import { structuralFromZod } from "./from-zod.ts";
import { manifestOf } from "./kind-manifest.ts";
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

export interface KindOptions<Spec extends z.ZodObject, S extends Status> {
  readonly group: string;
  readonly version: string;
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
 * Guarantees: what the builder and `parse` return is complete (defaults filled) and valid as the server would find it at
 * its creation; rules that compare with the past hold on updates only, on the server. Errors: `ERR_OBJECT_INVALID`, naming the kind, the object and each field.
 */
export interface DefinedKind<T extends KubeObject, Init> extends KindNames {
  (init: Init): T;
  readonly apiVersion: string;
  /** Carries `T` for `ObjectOf`; never set. */
  readonly objectType?: T;
  /** The schema of the whole object. */
  readonly schema: StructuralSchema;
  /** The complete CustomResourceDefinition. */
  crd(): CustomResourceDefinitionManifest;
  /** Takes an object from outside: checks it and fills its defaults. Unknown fields are errors. */
  parse(value: unknown): T;
}

export function defineKind<const Spec extends z.ZodObject, const S extends Status = undefined>(
  options: KindOptions<Spec, S>,
): DefinedKind<KindObject<DeepReadonly<z.output<Spec>>, StatusOf<S>>, KindInit<Spec>> {
  type T = KindObject<DeepReadonly<z.output<Spec>>, StatusOf<S>>;
  const { group, version, kind, scope = "Namespaced" } = options;
  const apiVersion = apiVersionOf(options);
  const plural = options.plural ?? pluralOf(kind);
  const schema = objectSchema(options);
  requireStructural(kind, schema);
  const manifest = manifestOf({ ...options, plural, scope }, schema);
  const rules = compileKindRules(kind, schema);
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
    crd: (): CustomResourceDefinitionManifest => manifest,
    parse: (value: unknown): T => parseObject(value, checked) as unknown as T,
  };
  // `name` of a function is read-only, so the members are defined instead of assigned.
  for (const [key, value] of Object.entries(members)) Object.defineProperty(build, key, { value, enumerable: true });
  return build as DefinedKind<T, KindInit<Spec>>;
}

function objectSchema(options: KindOptions<z.ZodObject, Status>): StructuralSchema {
  const { description, spec, status, rules = [] } = options;
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

/** What `field` adds may still not fit what it is added to: a list type on a string, keys that no item has. */
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
