/** The manifest of a CustomResourceDefinition, as far as `defineKind` writes one. */
import type { StructuralSchema } from "./structural-schema.ts";

/** A column of `kubectl get`, as a CRD's `additionalPrinterColumns` has it. */
export interface CustomResourceColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}

/** Where a webhook is called: a Service of the cluster, or a URL. */
export interface WebhookClient {
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly path?: string;
    readonly port?: number;
  };
  /** PEM in base64. */
  readonly caBundle?: string;
}

/** What a CRD contains beyond the kind's own definition. */
export interface CrdOptions {
  /** The webhook that converts between the versions. */
  readonly conversion?: WebhookClient;
}

/** A version of a CRD (apiextensions.k8s.io/v1); exactly one version of a CRD has `storage: true`. */
export interface CustomResourceVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema: { readonly openAPIV3Schema: StructuralSchema };
  readonly subresources?: {
    readonly status?: Readonly<Record<string, never>>;
    readonly scale?: {
      readonly specReplicasPath: string;
      readonly statusReplicasPath: string;
      readonly labelSelectorPath?: string;
    };
  };
  readonly additionalPrinterColumns?: readonly CustomResourceColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

/** A CRD to apply, without the fields that the server sets. */
export interface CustomResourceDefinitionManifest {
  readonly apiVersion: "apiextensions.k8s.io/v1";
  readonly kind: "CustomResourceDefinition";
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly scope: "Namespaced" | "Cluster";
    readonly names: {
      readonly kind: string;
      readonly listKind: string;
      readonly plural: string;
      readonly singular: string;
      readonly shortNames?: readonly string[];
      readonly categories?: readonly string[];
    };
    readonly versions: readonly CustomResourceVersion[];
    readonly conversion?: {
      readonly strategy: "Webhook";
      readonly webhook: {
        readonly conversionReviewVersions: readonly string[];
        readonly clientConfig: WebhookClient;
      };
    };
  };
}
