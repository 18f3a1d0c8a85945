/** Turns a CustomResourceDefinition into what the registry serves: one definition for each served version. */
import { ApiError, failure, type UnstructuredObject } from "@setpoint/apimachinery";
import type { StructuralSchema } from "@setpoint/schema";
import { resolveSchema } from "../builtin/resolve-schema.ts";
import { compareVersions } from "../discovery/version-order.ts";
import type {
  ResourceDefinition,
  ScalePaths,
  Strategy,
  SubresourceDefinition,
  Verb,
} from "../registry/resource-definition.ts";
import type { Crd, CrdVersion } from "./crd-object.ts";
import { compileJsonPath } from "./jsonpath.ts";
import { printerColumns } from "./printer-columns.ts";

const verbs: readonly Verb[] = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
const subresourceVerbs: readonly string[] = ["get", "patch", "update"];

const everything: StructuralSchema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

/** Where the objects of a CRD are stored. */
export function instancePrefix({ spec }: Crd): string {
  return `/${spec.group}/${spec.names.plural}`;
}

/** The definitions of all served versions. `isTerminating` is asked at each create. */
export function customDefinitions(crd: Crd, isTerminating: () => boolean): readonly ResourceDefinition[] {
  const strategy = customStrategy(isTerminating);
  return crd.spec.versions.filter((each) => each.served).map((version) => definitionOf(crd, version, strategy));
}

function customStrategy(isTerminating: () => boolean): Strategy {
  return {
    prepareForCreate: () => {
      if (!isTerminating()) return;
      const message = "create not allowed while custom resource definition is terminating";
      throw new ApiError(failure(405, "MethodNotAllowed", message));
    },
    tracksGeneration: true,
    allowsCreateOnUpdate: false,
    allowsUnconditionalUpdate: false,
  };
}

function definitionOf(crd: Crd, version: CrdVersion, strategy: Strategy): ResourceDefinition {
  const { group, names, scope, versions } = crd.spec;
  const accepted = { ...names, ...crd.status?.acceptedNames };
  const { scale } = version.subresources ?? {};
  const warning = deprecationWarning(crd, version);
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
    schema: withImplicitFields(version.schema?.openAPIV3Schema ?? everything),
    custom: true,
    strategy,
    columns: printerColumns(version.additionalPrinterColumns),
    selectableFields: selectableFields(version),
    storagePrefix: instancePrefix(crd),
    storageVersion: versions.find((each) => each.storage)?.name ?? version.name,
    ...(warning === undefined ? {} : { deprecationWarning: warning }),
  };
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
const textOf = (value: unknown): string => (value === undefined || value === null ? "" : String(value));

function deprecationWarning(crd: Crd, version: CrdVersion): string | undefined {
  if (version.deprecated !== true) return undefined;
  if (version.deprecationWarning !== undefined) return version.deprecationWarning;
  const { group, names, versions } = crd.spec;
  const own = `${group}/${version.name} ${names.kind} is deprecated`;
  const candidates = versions.filter((each) => each.served && each.deprecated !== true).map((each) => each.name);
  const newer = candidates.toSorted(compareVersions).find((name) => compareVersions(name, version.name) < 0);
  return newer === undefined ? own : `${own}; use ${group}/${newer} ${names.kind}`;
}

const objectMeta = (): StructuralSchema => resolveSchema("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");

/** The schema with the fields that every object has, at the root and in embedded resources. */
export function withImplicitFields(schema: StructuralSchema): StructuralSchema {
  return { ...embedded(schema), type: "object", properties: implicitProperties(schema) };
}

function implicitProperties(schema: StructuralSchema): Readonly<Record<string, StructuralSchema>> {
  const own = Object.entries(schema.properties ?? {}).map(([name, each]): [string, StructuralSchema] => [name, embedded(each)]);
  const properties = Object.fromEntries(own);
  const text: StructuralSchema = { type: "string" };
  return {
    ...properties,
    apiVersion: { ...text, ...properties["apiVersion"] },
    kind: { ...text, ...properties["kind"] },
    metadata: metadataSchema(properties["metadata"]),
  };
}

/** ObjectMeta, narrowed by what a CRD may say about it: name and generateName. */
function metadataSchema(narrowed: StructuralSchema | undefined): StructuralSchema {
  const meta = objectMeta();
  if (narrowed?.properties === undefined && narrowed?.["x-kubernetes-validations"] === undefined) return meta;
  const { name, generateName } = narrowed.properties ?? {};
  const properties = {
    ...meta.properties,
    ...(name === undefined ? {} : { name }),
    ...(generateName === undefined ? {} : { generateName }),
  };
  return { ...narrowed, type: "object", properties };
}

/** Gives embedded resources below a node their implicit fields; nodes without any are kept as they are. */
function embedded(schema: StructuralSchema): StructuralSchema {
  const { properties, items, additionalProperties } = schema;
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  if (properties === undefined && items === undefined && additionalProperties === undefined && !isEmbedded) return schema;
  const children = Object.entries(properties ?? {}).map(([name, each]): [string, StructuralSchema] => [name, embedded(each)]);
  return {
    ...schema,
    ...(properties === undefined ? {} : { properties: Object.fromEntries(children) }),
    ...(isEmbedded ? { properties: implicitProperties(schema) } : {}),
    ...(items === undefined ? {} : { items: embedded(items) }),
    ...(typeof additionalProperties === "object" ? { additionalProperties: embedded(additionalProperties) } : {}),
  };
}
