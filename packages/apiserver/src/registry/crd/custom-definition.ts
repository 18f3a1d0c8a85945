/** Turns a CustomResourceDefinition into what the registry serves: one definition for each served version. */
import { encodeJson, ApiError, apiVersionOf, failure, type UnstructuredObject } from "@setpoint/apimachinery";
import {
  plainLimits,
  type RuleCompiler,
  type RuleEvaluator,
  type StructuralSchema,
  validateSchema,
} from "@setpoint/schema";
import { builtinResources } from "../builtin/builtin-resources.ts";
import { compareVersions } from "../version-order.ts";
import type { WebhookClientConfig } from "../webhook-client-config.ts";
import type {
  ObjectConverter,
  ResourceDefinition,
  ScalePaths,
  Strategy,
  SubresourceDefinition,
  Verb,
} from "../resource-definition.ts";
import type { Crd, CrdVersion } from "./crd-object.ts";
import { compileJsonPath } from "./jsonpath.ts";
import { printerColumns } from "./printer-columns.ts";

const verbs: readonly Verb[] = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
const subresourceVerbs: readonly string[] = ["get", "patch", "update"];

const everything: StructuralSchema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

/**
 * Where the objects of a CRD are stored. A CRD may name itself like a built-in resource in another version:
 * then its objects are kept apart, so that neither it nor its deletion reaches the built-in ones.
 */
export function instancePrefix({ spec }: Crd): string {
  const prefix = `/${spec.group}/${spec.names.plural}`;
  const isBuiltin = builtinResources().some((each) => each.storagePrefix === prefix);
  return isBuiltin ? `/customresources${prefix}` : prefix;
}

export interface CustomDefinitionOptions {
  /** Asked at each create. */
  readonly isTerminating: () => boolean;
  /** Understands validation rules; without it they are not checked. */
  readonly compileRules?: RuleCompiler;
  /** Calls conversion webhooks; without it, versions differ only in their name. */
  readonly convertBy?: (config: WebhookClientConfig) => ObjectConverter;
}

/** The definitions of all served versions. */
export function customDefinitions(crd: Crd, options: CustomDefinitionOptions): readonly ResourceDefinition[] {
  return crd.spec.versions.filter((each) => each.served).map((version) => definitionOf(crd, version, options));
}

/** Upstream documents a 405, but a real 1.36 server answers this. */
function terminating({ spec }: Crd, name: string): ApiError {
  const { group, names } = spec;
  const subject = `${names.plural}.${group}${name === "" ? "" : ` ${JSON.stringify(name)}`}`;
  const message = `${subject} is forbidden: create not allowed while custom resource definition is terminating`;
  const details = { ...(name === "" ? {} : { name }), group, kind: names.plural };
  return new ApiError(failure(403, "Forbidden", message, details));
}

function customStrategy(
  crd: Crd,
  schema: StructuralSchema,
  { isTerminating, compileRules }: CustomDefinitionOptions,
): Strategy {
  let rules: RuleEvaluator | undefined;
  return {
    prepareForCreate: ({ metadata }) => {
      if (isTerminating()) throw terminating(crd, metadata.name ?? "");
    },
    validate: (object, old) => {
      // Compiled at the first write: many served kinds are never written.
      rules ??= compileRules === undefined ? undefined : compiledRules(schema, compileRules);
      return validateSchema(schema, object, rules === undefined ? { old } : { old, rules });
    },
    tracksGeneration: true,
    allowsCreateOnUpdate: false,
    allowsUnconditionalUpdate: false,
  };
}

const compiled = new WeakMap<RuleCompiler, WeakMap<StructuralSchema, RuleEvaluator>>();

/**
 * Servers in one process that start from the same contents share the schema's object, and so its rules:
 * thousands of simulated worlds compile them once.
 */
function compiledRules(schema: StructuralSchema, compileRules: RuleCompiler): RuleEvaluator {
  let bySchema = compiled.get(compileRules);
  if (bySchema === undefined) {
    bySchema = new WeakMap();
    compiled.set(compileRules, bySchema);
  }
  let rules = bySchema.get(schema);
  if (rules === undefined) {
    rules = compileRules(schema);
    bySchema.set(schema, rules);
  }
  return rules;
}

function definitionOf(crd: Crd, version: CrdVersion, options: CustomDefinitionOptions): ResourceDefinition {
  const { group, names, scope, versions } = crd.spec;
  const accepted = { ...names, ...crd.status?.acceptedNames };
  const { scale } = version.subresources ?? {};
  const warning = deprecationWarning(crd, version);
  const schema = schemaOf(version);
  const converter = converterOf(crd, options);
  const several = versions.length > 1 ? { versionSchemas: schemasOf(crd) } : {};
  return {
    group,
    version: version.name,
    resource: names.plural,
    singular: accepted.singular ?? names.kind.toLowerCase(),
    kind: names.kind,
    listKind: accepted.listKind ?? `${names.kind}List`,
    namespaced: scope === "Namespaced",
    verbs,
    shortNames: accepted.shortNames ?? [],
    categories: accepted.categories ?? [],
    subresources: subresourcesOf(crd, version),
    ...(scale === undefined ? {} : { scale: scalePaths(scale) }),
    schema,
    custom: true,
    strategy: customStrategy(crd, schema, options),
    columns: printerColumns(version.additionalPrinterColumns),
    selectableFields: selectableFields(version),
    storagePrefix: instancePrefix(crd),
    storageVersion: versions.find((each) => each.storage)?.name ?? version.name,
    ...several,
    ...(converter === undefined ? {} : { converter }),
    ...(warning === undefined ? {} : { deprecationWarning: warning }),
  };
}

function schemasOf({ spec }: Crd): ReadonlyMap<string, StructuralSchema> {
  const { group, versions } = spec;
  return new Map(versions.map((version) => [apiVersionOf({ group, version: version.name }), schemaOf(version)]));
}

function schemaOf({ schema }: CrdVersion): StructuralSchema {
  return plainLimits(schema?.openAPIV3Schema ?? everything);
}

function converterOf({ spec }: Crd, { convertBy }: CustomDefinitionOptions): ObjectConverter | undefined {
  const config = spec.conversion?.webhook?.clientConfig;
  return spec.conversion?.strategy === "Webhook" && config !== undefined ? convertBy?.(config) : undefined;
}

function subresourcesOf({ spec }: Crd, version: CrdVersion): readonly SubresourceDefinition[] {
  const found: SubresourceDefinition[] = [];
  const kind = { group: spec.group, version: version.name, kind: spec.names.kind };
  if (version.subresources?.status !== undefined) found.push({ name: "status", kind, verbs: subresourceVerbs });
  if (version.subresources?.scale !== undefined) {
    const scale = { group: "autoscaling", version: "v1", kind: "Scale" };
    found.push({ name: "scale", kind: scale, verbs: subresourceVerbs });
  }
  return found;
}

function scalePaths(scale: NonNullable<NonNullable<CrdVersion["subresources"]>["scale"]>): ScalePaths {
  const { specReplicasPath = "", statusReplicasPath = "", labelSelectorPath } = scale;
  const selector = labelSelectorPath === undefined || labelSelectorPath === "" ? {} : { labelSelectorPath };
  return { specReplicasPath, statusReplicasPath, ...selector };
}

type FieldReader = (object: UnstructuredObject) => string;

function selectableFields(version: CrdVersion): Readonly<Record<string, FieldReader>> {
  const fields = (version.selectableFields ?? []).map(({ jsonPath = "" }): [string, FieldReader] => {
    const read = compileJsonPath(jsonPath);
    return [jsonPath.replace(/^\./, ""), (object) => textOf(read(object))];
  });
  return Object.fromEntries(fields);
}

/** Absent fields select as the empty string. */
const textOf = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined || value === null ? "" : encodeJson(value);

function deprecationWarning(crd: Crd, version: CrdVersion): string | undefined {
  if (version.deprecated !== true) return undefined;
  if (version.deprecationWarning !== undefined) return version.deprecationWarning;
  const { group, names, versions } = crd.spec;
  const own = `${group}/${version.name} ${names.kind} is deprecated`;
  const candidates = versions.filter((each) => each.served && each.deprecated !== true).map((each) => each.name);
  const newer = candidates.toSorted(compareVersions).find((name) => compareVersions(name, version.name) < 0);
  return newer === undefined ? own : `${own}; use ${group}/${newer} ${names.kind}`;
}
