/** The strategy of CustomResourceDefinitions. */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import type { Strategy, WriteContext } from "../resource-definition.ts";
import { cleanupFinalizer, type Crd, parseCrd } from "./crd-object.ts";
import { schemaChecks } from "./crd-schema-checks.ts";
import { type RuleCompiler, unknownFormats } from "@setpoint/schema";
import { validateCrd } from "./crd-validation.ts";

type Json = Record<string, unknown>;

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

/** The field as an object, made when it is absent and there is something to hold it. */
function ensureObject(parent: Json, field: string): Json {
  const present = parent[field];
  if (isJson(present)) return present;
  const made: Json = {};
  parent[field] = made;
  return made;
}

function setDefaults(object: UnstructuredObject): void {
  const spec = object["spec"];
  if (!isJson(spec)) return;
  const { names } = spec;
  if (isJson(names)) defaultNames(names);
  const conversion = ensureObject(spec, "conversion");
  conversion["strategy"] ??= "None";
  const webhook = isJson(conversion["webhook"]) ? conversion["webhook"] : {};
  const config = isJson(webhook["clientConfig"]) ? webhook["clientConfig"] : {};
  if (isJson(config["service"])) config["service"]["port"] ??= 443;
}

function defaultNames(names: Json): void {
  const { kind } = names;
  if (typeof kind !== "string" || kind === "") return;
  if ((names["singular"] ?? "") === "") names["singular"] = kind.toLowerCase();
  if ((names["listKind"] ?? "") === "") names["listKind"] = `${kind}List`;
}

function storageVersion({ spec }: Crd): string | undefined {
  return spec.versions.find((each) => each.storage)?.name;
}

/** Replaces the status by one whose storedVersions contain the storage version. */
function rememberStorageVersion(object: UnstructuredObject, status: Json): void {
  const storage = storageVersion(parseCrd(object));
  const stored = Array.isArray(status["storedVersions"]) ? status["storedVersions"] : [];
  const added = storage === undefined || stored.includes(storage) ? stored : [...stored, storage];
  // The registry hands over an object that may be changed in place.
  (object as Json)["status"] = { ...status, ...(added.length === 0 ? {} : { storedVersions: added }) };
}

/** The status of a new definition as Go writes it, until its names are decided a moment later. */
const emptyStatus = (): Json => ({ conditions: null, acceptedNames: { plural: "", kind: "" } });

function prepareForUpdate(object: UnstructuredObject, old: UnstructuredObject, context: WriteContext): void {
  if (context.subresource !== "") return;
  rememberStorageVersion(object, isJson(old["status"]) ? old["status"] : {});
}

/** The first DELETE only marks: the instances go first, then the finalizer, then the definition. */
function onMarkedDeleted(object: UnstructuredObject): void {
  const metadata = object.metadata as { finalizers?: readonly string[]; deletionTimestamp?: string };
  const finalizers = metadata.finalizers ?? [];
  if (!finalizers.includes(cleanupFinalizer)) metadata.finalizers = [...finalizers, cleanupFinalizer];
  const status = isJson(object["status"]) ? object["status"] : {};
  const conditions = Array.isArray(status["conditions"])
    ? status["conditions"].filter((each) => each.type !== "Terminating")
    : [];
  conditions.push({
    type: "Terminating",
    status: "True",
    lastTransitionTime: metadata.deletionTimestamp ?? null,
    reason: "InstanceDeletionPending",
    message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
  });
  (object as Json)["status"] = { ...status, conditions };
}

export interface CrdStrategyOptions {
  /** Finds rules that do not compile; without it they are accepted as they are. */
  readonly compileRules?: RuleCompiler;
}

function formatWarnings({ spec }: Crd): readonly string[] {
  const formats = spec.versions.flatMap(({ schema }) => [...unknownFormats(schema?.openAPIV3Schema ?? {})]);
  return [...new Set(formats)].map((format) => `unrecognized format ${JSON.stringify(format)}`);
}

/** The strategy of `customresourcedefinitions`. */
export function createCrdStrategy({ compileRules }: CrdStrategyOptions = {}): Strategy {
  const checks = schemaChecks(compileRules);
  return {
    setDefaults,
    prepareForCreate: (object) => rememberStorageVersion(object, emptyStatus()),
    prepareForUpdate,
    validate: (object, old, { subresource }) =>
      subresource === "status"
        ? []
        : validateCrd(parseCrd(object), old === undefined ? undefined : parseCrd(old), checks),
    warnings: (object) => formatWarnings(parseCrd(object)),
    tracksGeneration: true,
    allowsCreateOnUpdate: false,
    allowsUnconditionalUpdate: false,
    onMarkedDeleted,
    // Before it is marked, a definition is kept by the instances that it may have; afterwards by the
    // finalizer alone.
    hasOtherFinalizers: (object) => object.metadata.deletionTimestamp === undefined,
  };
}

/** The strategy without a compiler of rules. */
export const crdStrategy: Strategy = createCrdStrategy();
