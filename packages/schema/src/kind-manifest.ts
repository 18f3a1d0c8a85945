/** Writes the CustomResourceDefinition of a kind. */
import type {
  CustomResourceDefinitionManifest,
  CustomResourceVersion,
  WebhookClient,
} from "./custom-resource-definition.ts";
import { customResourceColumn, schemaAt, type PrinterColumn } from "./printer-column.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/** The options of `defineKind` without their generic types. */
interface ManifestOptions {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly scope: "Namespaced" | "Cluster";
  readonly deprecated?: boolean | string;
  readonly status?: unknown;
  readonly scale?: { readonly specReplicas: string; readonly statusReplicas: string; readonly selector?: string };
  readonly printerColumns?: Readonly<Record<string, PrinterColumn<string>>>;
  readonly selectableFields?: readonly string[];
}

/** A version other than the kind's own. */
export interface DeclaredVersion {
  readonly name: string;
  readonly schema: StructuralSchema;
  readonly served?: boolean;
  readonly deprecated?: boolean | string;
  readonly printerColumns?: Readonly<Record<string, PrinterColumn<string>>>;
}

export function manifestOf(
  options: ManifestOptions,
  schema: StructuralSchema,
  others: readonly DeclaredVersion[] = [],
  conversion?: WebhookClient,
): CustomResourceDefinitionManifest {
  const { group, kind, plural, shortNames, categories, scope, version, printerColumns, deprecated } = options;
  const names = {
    kind,
    listKind: `${kind}List`,
    plural,
    singular: kind.toLowerCase(),
    ...(shortNames === undefined ? {} : { shortNames }),
    ...(categories === undefined ? {} : { categories }),
  };
  const own = { name: version, schema, ...optional({ printerColumns, deprecated }) };
  const versions = [
    versionOf(options, own, true),
    ...others.map((each) =>
      versionOf(options, { ...each, served: each.served !== false && conversion !== undefined }, false),
    ),
  ];
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names,
      versions,
      ...(conversion === undefined || others.length === 0 ? {} : { conversion: webhookConversion(conversion) }),
    },
  };
}

function webhookConversion(
  clientConfig: WebhookClient,
): NonNullable<CustomResourceDefinitionManifest["spec"]["conversion"]> {
  return { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"], clientConfig } };
}

/** Without the entries that are undefined. */
function optional<T extends object>(fields: T): { readonly [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    readonly [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

function versionOf(options: ManifestOptions, version: DeclaredVersion, storage: boolean): CustomResourceVersion {
  const { name, schema, served = true, deprecated = false, printerColumns } = version;
  const selectableFields = options.selectableFields?.filter((path) => schemaAt(schema, path) !== undefined);
  const subresources = subresourcesOf(options);
  return {
    name,
    served,
    storage,
    ...(deprecated === false ? {} : { deprecated: true }),
    ...(typeof deprecated === "string" ? { deprecationWarning: deprecated } : {}),
    schema: { openAPIV3Schema: schema },
    ...(Object.keys(subresources).length === 0 ? {} : { subresources }),
    ...(printerColumns === undefined
      ? {}
      : {
          additionalPrinterColumns: Object.entries(printerColumns).map(([title, column]) =>
            customResourceColumn(title, column, schema),
          ),
        }),
    ...(selectableFields === undefined || selectableFields.length === 0
      ? {}
      : { selectableFields: selectableFields.map((path) => ({ jsonPath: `.${path}` })) }),
  };
}

function subresourcesOf({ status, scale }: ManifestOptions): NonNullable<CustomResourceVersion["subresources"]> {
  return {
    ...(status === undefined ? {} : { status: {} }),
    ...(scale === undefined
      ? {}
      : {
          scale: {
            specReplicasPath: `.spec.${scale.specReplicas}`,
            statusReplicasPath: `.status.${scale.statusReplicas}`,
            ...(scale.selector === undefined ? {} : { labelSelectorPath: `.status.${scale.selector}` }),
          },
        }),
  };
}
