/**
 * Checks of a CustomResourceDefinition as a whole. Errors name fields as upstream's do: what is equal in all
 * versions is reported where the internal form of upstream has it, at `spec.validation`, `spec.subresources`
 * and so on.
 */
import { deepEqual, type FieldError } from "@setpoint/apimachinery";
import { plainLimits, type StructuralSchema } from "@setpoint/schema";
import { forbidden, immutableDetail, invalidValue, notSupported, required } from "../field-errors.ts";
import { clientErrors } from "../builtin/webhook-validation.ts";
import { label1035Problem, validateNames } from "./crd-names-validation.ts";
import { type Crd, type CrdConversion, type CrdSpec, type CrdVersion, isConditionTrue } from "./crd-object.ts";
import { validateSchemaKeywords } from "./crd-schema-validation.ts";
import {
  validateColumn,
  validateDeprecation,
  validateSelectableFields,
  validateSubresources,
} from "./crd-version-validation.ts";

/**
 * Checks of a schema that live elsewhere: that it is structural, that its defaults hold, that its rules
 * compile.
 */
export type SchemaCheck = (schema: StructuralSchema, path: string) => readonly FieldError[];

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const subdomainDetail =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const approvalAnnotation = "api-approved.kubernetes.io";

/**
 * All errors of `crd`; `old` is the state before an update. `checks` see each schema until one finds an
 * error.
 */
export function validateCrd(crd: Crd, old: Crd | undefined, checks: readonly SchemaCheck[]): readonly FieldError[] {
  return [
    ...(old === undefined ? nameErrors(crd) : []),
    ...specErrors(crd.spec, old?.spec, checks),
    ...(old === undefined ? [] : immutableErrors(crd, old)),
    ...storedVersionErrors(crd),
    ...approvalErrors(crd, old),
    ...preserveErrors(crd.spec, old?.spec),
  ];
}

function nameErrors({ metadata, spec }: Crd): readonly FieldError[] {
  if (metadata.name === `${spec.names.plural}.${spec.group}`) return [];
  return [invalidValue("metadata.name", metadata.name, `must be spec.names.plural+"."+spec.group`)];
}

function specErrors(spec: CrdSpec, old: CrdSpec | undefined, checks: readonly SchemaCheck[]): readonly FieldError[] {
  const shared = sharedFields(spec.versions);
  const missing = spec.versions.flatMap(({ schema }, index) =>
    schema?.openAPIV3Schema === undefined ? [required(`spec.versions[${index}].schema.openAPIV3Schema`)] : [],
  );
  return [
    ...groupErrors(spec.group),
    ...enumErrors("spec.scope", spec.scope, ["Cluster", "Namespaced"]),
    ...missing,
    ...spec.versions.flatMap((each, index) => versionErrors(each, index, shared, unchanged(each, old) ? [] : checks)),
    ...versionListErrors(spec.versions, shared),
    ...validateNames(spec.names, "spec.names"),
    ...sharedErrors(spec.versions, shared, unchanged(spec.versions[0], old) ? [] : checks),
    ...conversionErrors(spec.conversion),
  ];
}

function groupErrors(group: string): readonly FieldError[] {
  if (group === "") return [required("spec.group")];
  if (!subdomain.test(group)) return [invalidValue("spec.group", group, subdomainDetail)];
  return group.includes(".") ? [] : [invalidValue("spec.group", group, "should be a domain with at least one dot")];
}

function enumErrors(field: string, value: string, known: readonly string[]): readonly FieldError[] {
  if (value === "") return [required(field)];
  return known.includes(value) ? [] : [notSupported(field, value, known)];
}

type SharedField = "schema" | "subresources" | "additionalPrinterColumns" | "selectableFields";
const sharable: readonly SharedField[] = ["schema", "subresources", "additionalPrinterColumns", "selectableFields"];

/** Fields that all versions have, with equal values. */
function sharedFields(versions: readonly CrdVersion[]): ReadonlySet<SharedField> {
  const [first] = versions;
  const isShared = (field: SharedField): boolean =>
    first?.[field] !== undefined && versions.every((each) => deepEqual(each[field], first[field]));
  return new Set(sharable.filter(isShared));
}

/** What was stored with this schema was accepted with it, and stays acceptable. */
function unchanged(version: CrdVersion | undefined, old: CrdSpec | undefined): boolean {
  const before = old?.versions.find((each) => each.name === version?.name);
  return before !== undefined && deepEqual(before.schema, version?.schema);
}

function versionErrors(
  version: CrdVersion,
  index: number,
  shared: ReadonlySet<SharedField>,
  checks: readonly SchemaCheck[],
): readonly FieldError[] {
  const path = `spec.versions[${index}]`;
  const problem = label1035Problem(version.name);
  const own = (field: SharedField, errors: () => readonly FieldError[]): readonly FieldError[] =>
    shared.has(field) ? [] : errors();
  return [
    ...(problem === undefined ? [] : [invalidValue(`${path}.name`, version.name, problem)]),
    ...validateDeprecation(version, path),
    ...own("schema", () => schemaErrors(version, `${path}.schema.openAPIV3Schema`, checks)),
    ...own("subresources", () => validateSubresources(version.subresources, `${path}.subresources`)),
    ...own("additionalPrinterColumns", () => columnErrors(version, `${path}.additionalPrinterColumns`)),
    ...own("selectableFields", () => selectableErrors(version, `${path}.selectableFields`)),
  ];
}

function sharedErrors(
  [first]: readonly CrdVersion[],
  shared: ReadonlySet<SharedField>,
  checks: readonly SchemaCheck[],
): readonly FieldError[] {
  if (first === undefined) return [];
  return [
    ...(shared.has("schema") ? schemaErrors(first, "spec.validation.openAPIV3Schema", checks) : []),
    ...(shared.has("subresources") ? validateSubresources(first.subresources, "spec.subresources") : []),
    ...(shared.has("additionalPrinterColumns") ? columnErrors(first, "spec.additionalPrinterColumns") : []),
    ...(shared.has("selectableFields") ? selectableErrors(first, "spec.selectableFields") : []),
  ];
}

const columnErrors = ({ additionalPrinterColumns = [] }: CrdVersion, path: string): readonly FieldError[] =>
  additionalPrinterColumns.flatMap((column, index) => validateColumn(column, `${path}[${index}]`));

const selectableErrors = ({ selectableFields = [], schema }: CrdVersion, path: string): readonly FieldError[] =>
  validateSelectableFields(selectableFields, schema?.openAPIV3Schema, path);

function schemaErrors(version: CrdVersion, path: string, checks: readonly SchemaCheck[]): readonly FieldError[] {
  if (version.schema?.openAPIV3Schema === undefined) return [];
  const schema = plainLimits(version.schema.openAPIV3Schema);
  const errors: FieldError[] = [...rootErrors(schema, version.subresources?.status !== undefined, path)];
  if (schema.nullable === true) errors.push(forbidden(`${path}.nullable`, "nullable cannot be true at the root"));
  errors.push(...validateSchemaKeywords(schema, path));
  for (const check of checks) {
    if (errors.length > 0) break;
    errors.push(...check(schema, path));
  }
  return errors;
}

/** Names of upstream's Go fields, which its message lists. */
const rootFields =
  "Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations";
const rootKeywords: ReadonlySet<string> = new Set([
  ...rootFields.split(" ").map((name) => name.charAt(0).toLowerCase() + name.slice(1)),
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-validations",
  // Reported on its own.
  "nullable",
]);

function rootErrors(schema: StructuralSchema, hasStatus: boolean, path: string): readonly FieldError[] {
  if (!hasStatus) return [];
  if (schema.type !== undefined && schema.type !== "object") {
    const detail = `only "object" is allowed as the type at the root of the schema if the status subresource is enabled`;
    return [invalidValue(`${path}.type`, schema.type, detail)];
  }
  if (Object.keys(schema).every((keyword) => rootKeywords.has(keyword))) return [];
  const detail = `only [${rootFields}] fields are allowed at the root of the schema if the status subresource is enabled`;
  return [invalidValue(path, schema, detail)];
}

function versionListErrors(versions: readonly CrdVersion[], shared: ReadonlySet<SharedField>): readonly FieldError[] {
  const errors: FieldError[] = [];
  const printed = versions.map((each) => internalVersion(each, shared));
  if (new Set(versions.map((each) => each.name)).size < versions.length)
    errors.push(invalidValue("spec.versions", printed, "must contain unique version names"));
  if (versions.filter((each) => each.storage).length !== 1)
    errors.push(invalidValue("spec.versions", printed, "must have exactly one version marked as storage version"));
  const first = versions[0]?.name;
  const problem = first === undefined ? undefined : label1035Problem(first);
  if (problem !== undefined) errors.push(invalidValue("spec.version", first, problem));
  return errors;
}

/**
 * A version as upstream prints it in a message: its Go fields, without those that are equal in all versions.
 */
function internalVersion(version: CrdVersion, shared: ReadonlySet<SharedField>): Readonly<Record<string, unknown>> {
  const own = (field: SharedField): unknown => (shared.has(field) ? null : (version[field] ?? null));
  return {
    Name: version.name,
    Served: version.served,
    Storage: version.storage,
    Deprecated: version.deprecated ?? false,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: own("schema"),
    Subresources: own("subresources"),
    AdditionalPrinterColumns: own("additionalPrinterColumns"),
    SelectableFields: own("selectableFields"),
  };
}

function conversionErrors(conversion: CrdConversion | undefined): readonly FieldError[] {
  if (conversion === undefined) return [];
  const path = "spec.conversion";
  const known = enumErrors(`${path}.strategy`, conversion.strategy ?? "", ["None", "Webhook"]);
  if (conversion.strategy === "Webhook") return [...known, ...webhookErrors(conversion, path)];
  if (conversion.webhook === undefined) return known;
  const { clientConfig, conversionReviewVersions = [] } = conversion.webhook;
  const misplaced = "should not be set when strategy is not set to Webhook";
  return [
    ...known,
    ...(clientConfig === undefined ? [] : [forbidden(`${path}.webhookClientConfig`, misplaced)]),
    ...(conversionReviewVersions.length === 0 ? [] : [forbidden(`${path}.conversionReviewVersions`, misplaced)]),
  ];
}

function webhookErrors({ webhook }: CrdConversion, path: string): readonly FieldError[] {
  const { clientConfig, conversionReviewVersions: versions = [] } = webhook ?? {};
  const errors: FieldError[] = [];
  const configField = `${path}.webhookClientConfig`;
  if (clientConfig === undefined) errors.push(required(configField, "required when strategy is set to Webhook"));
  else errors.push(...clientErrors(clientConfig, configField));
  const versionsField = `${path}.conversionReviewVersions`;
  if (versions.length === 0) errors.push(required(versionsField));
  else if (!versions.includes("v1") && !versions.includes("v1beta1"))
    errors.push(invalidValue(versionsField, versions, "must include at least one of v1, v1beta1"));
  return errors;
}

function immutableErrors({ spec }: Crd, old: Crd): readonly FieldError[] {
  const pairs: [field: string, value: string, before: string][] = [
    ["spec.group", spec.group, old.spec.group],
    ["spec.names.plural", spec.names.plural, old.spec.names.plural],
  ];
  if (isConditionTrue(old, "Established"))
    pairs.unshift(
      ["spec.scope", spec.scope, old.spec.scope],
      ["spec.names.kind", spec.names.kind, old.spec.names.kind],
    );
  return pairs.flatMap(([field, value, before]) =>
    value === before ? [] : [invalidValue(field, value, immutableDetail)],
  );
}

function storedVersionErrors({ spec, status }: Crd): readonly FieldError[] {
  const stored = status?.storedVersions ?? [];
  const field = "status.storedVersions";
  if (stored.length === 0) return [invalidValue(field, null, "must have at least one stored version")];
  const missing = spec.versions.filter((each) => each.storage && !stored.includes(each.name));
  const errors = missing.map((each) => invalidValue(field, stored, `must have the storage version ${each.name}`));
  stored.forEach((name, index) => {
    if (spec.versions.some((each) => each.name === name)) return;
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    errors.push(invalidValue(`${field}[${index}]`, name, detail));
  });
  return errors;
}

function approvalErrors(crd: Crd, old: Crd | undefined): readonly FieldError[] {
  const { group } = crd.spec;
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group)) return [];
  const approval = crd.metadata.annotations?.[approvalAnnotation] ?? "";
  if (old !== undefined && (old.metadata.annotations?.[approvalAnnotation] ?? "") === approval) return [];
  if (approval.startsWith("unapproved") || /^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(approval)) return [];
  const field = `metadata.annotations[${approvalAnnotation}]`;
  const must = `protected groups must have approval annotation "${approvalAnnotation}"`;
  const see = "see https://github.com/kubernetes/enhancements/pull/1111";
  if (approval === "") return [required(field, `${must}, ${see}`)];
  return [invalidValue(field, approval, `${must} with either a URL or a reason starting with "unapproved", ${see}`)];
}

function preserveErrors(spec: CrdSpec, old: CrdSpec | undefined): readonly FieldError[] {
  if (spec.preserveUnknownFields !== true || old?.preserveUnknownFields === true) return [];
  const detail =
    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
  return [invalidValue("spec.preserveUnknownFields", true, detail)];
}
