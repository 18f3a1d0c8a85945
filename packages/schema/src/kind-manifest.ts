/** Writes the CustomResourceDefinition of a kind. */
import type { CustomResourceDefinitionManifest, CustomResourceVersion } from "./custom-resource-definition.ts";
import { customResourceColumn, type PrinterColumn } from "./printer-column.ts";
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
  readonly status?: unknown;
  readonly scale?: { readonly specReplicas: string; readonly statusReplicas: string; readonly selector?: string };
  readonly printerColumns?: Readonly<Record<string, PrinterColumn<string>>>;
  readonly selectableFields?: readonly string[];
}

export function manifestOf(options: ManifestOptions, schema: StructuralSchema): CustomResourceDefinitionManifest {
  const { group, kind, plural, shortNames, categories, scope } = options;
  const names = {
    kind,
    listKind: `${kind}List`,
    plural,
    singular: kind.toLowerCase(),
    ...(shortNames === undefined ? {} : { shortNames }),
    ...(categories === undefined ? {} : { categories }),
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope, names, versions: [versionOf(options, schema)] },
  };
}

function versionOf(options: ManifestOptions, schema: StructuralSchema): CustomResourceVersion {
  const { printerColumns, selectableFields } = options;
  const subresources = subresourcesOf(options);
  return {
    name: options.version,
    served: true,
    storage: true,
    schema: { openAPIV3Schema: schema },
    ...(Object.keys(subresources).length === 0 ? {} : { subresources }),
    ...(printerColumns === undefined
      ? {}
      : {
          additionalPrinterColumns: Object.entries(printerColumns).map(([name, column]) =>
            customResourceColumn(name, column, schema),
          ),
        }),
    ...(selectableFields === undefined
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
