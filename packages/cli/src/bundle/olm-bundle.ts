/** An operator as a bundle for the Operator Lifecycle Manager (registry+v1). */
import type { KubeObject } from "@setpoint/apimachinery";
import { encodeJson } from "@setpoint/apimachinery";
import type { Operator } from "setpoint";
import { installManifests } from "setpoint/install";
import { objectYaml } from "../manifests/manifests-yaml.ts";
import { type CapabilityLevel, lowestLevel } from "./capability-level.ts";
import { sampleOf, type SampleSchema } from "./sample-object.ts";
import { bundledCertificate, webhookDefinitions } from "./webhook-definitions.ts";

export interface BundleOptions {
  readonly image: string;
  /** Semantic version without a `v`. */
  readonly version: string;
  /** The version that this one replaces in the channel. */
  readonly replaces?: string;
  readonly channel: string;
  /** Default: the lowest one. */
  readonly capabilities?: CapabilityLevel;
}

/** OLM sets the namespace; the name here only has to be a name. */
const placeholder = "placeholder";
const notBundled: ReadonlySet<string> = new Set([
  "Namespace",
  "ServiceAccount",
  "ClusterRole",
  "ClusterRoleBinding",
  "Role",
  "RoleBinding",
  "Deployment",
  // The manager has them from `webhookdefinitions`, and makes the Service.
  "ValidatingWebhookConfiguration",
  "MutatingWebhookConfiguration",
  "Service",
]);

/** The parts of a CustomResourceDefinition that a bundle describes. */
interface Crd extends KubeObject {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string; readonly plural: string };
    readonly versions: readonly {
      readonly name: string;
      readonly storage: boolean;
      readonly schema: { readonly openAPIV3Schema: SampleSchema & { readonly description?: string } };
    }[];
  };
}

/**
 * The files of the bundle, text by path. The manager issues the certificates of webhooks and registers them.
 *
 * Errors: `ERR_NOT_BUNDLED` for webhooks that it has no fields for.
 */
export function olmBundle(operator: Operator, options: BundleOptions): ReadonlyMap<string, string> {
  const packageName = `${operator.name}-operator`;
  const place = { image: options.image, namespace: placeholder, webhookCertificate: bundledCertificate };
  const objects = installManifests(operator, place);
  const crds = objects.filter((each): each is Crd => each.kind === "CustomResourceDefinition");
  const csv = clusterServiceVersion(operator, packageName, objects, crds, options);
  const others = objects.filter(({ kind }) => !notBundled.has(kind) && kind !== "CustomResourceDefinition");
  return new Map([
    [`manifests/${packageName}.clusterserviceversion.yaml`, objectYaml(csv)],
    ...crds.map((crd) => [`manifests/${crd.metadata.name ?? ""}.yaml`, objectYaml(crd)] as const),
    ...others.map((each) => [`manifests/${each.kind.toLowerCase()}.yaml`, objectYaml(withoutNamespace(each))] as const),
    ["metadata/annotations.yaml", objectYaml({ annotations: annotations(packageName, options.channel) })],
    ["tests/scorecard/config.yaml", objectYaml(scorecard)],
    ["bundle.Dockerfile", dockerfile(packageName, options.channel)],
  ]);
}

function clusterServiceVersion(
  { relatedImages }: Operator,
  packageName: string,
  objects: readonly KubeObject[],
  crds: readonly Crd[],
  { version, replaces, image, capabilities = lowestLevel }: BundleOptions,
): object {
  const examples = crds.map(sampleOfCrd);
  const webhookdefinitions = webhookDefinitions(packageName, objects);
  return {
    apiVersion: "operators.coreos.com/v1alpha1",
    kind: "ClusterServiceVersion",
    metadata: {
      name: `${packageName}.v${version}`,
      namespace: placeholder,
      annotations: {
        "alm-examples": encodeJson(examples, 2),
        capabilities,
        containerImage: image,
      },
    },
    spec: {
      displayName: words(packageName),
      description: `Runs ${crds.map(({ spec }) => spec.names.plural).join(", ")}.`,
      version,
      ...(replaces === undefined ? {} : { replaces: `${packageName}.v${replaces}` }),
      minKubeVersion: "1.32.0",
      maturity: "alpha",
      installModes: [
        { type: "OwnNamespace", supported: false },
        { type: "SingleNamespace", supported: false },
        { type: "MultiNamespace", supported: false },
        { type: "AllNamespaces", supported: true },
      ],
      customresourcedefinitions: { owned: crds.map(describeCrd) },
      ...(webhookdefinitions.length === 0 ? {} : { webhookdefinitions }),
      install: { strategy: "deployment", spec: installSpec(packageName, objects) },
      relatedImages: [{ name: "operator", image }, ...relatedImages],
    },
  };
}

function installSpec(serviceAccountName: string, objects: readonly KubeObject[]): object {
  const rules = (kind: string): unknown => (objects.find((each) => each.kind === kind) as { rules?: unknown }).rules;
  const deployment = objects.find(({ kind }) => kind === "Deployment") as KubeObject & { readonly spec: unknown };
  return {
    clusterPermissions: [{ serviceAccountName, rules: rules("ClusterRole") }],
    permissions: [{ serviceAccountName, rules: rules("Role") }],
    deployments: [{ name: deployment.metadata.name, label: deployment.metadata.labels, spec: deployment.spec }],
  };
}

function describeCrd(crd: Crd): object {
  const { names } = crd.spec;
  const version = storageVersion(crd);
  const properties = version.schema.openAPIV3Schema.properties ?? {};
  return {
    name: crd.metadata.name,
    kind: names.kind,
    version: version.name,
    displayName: words(names.kind),
    description: version.schema.openAPIV3Schema.description ?? `A ${words(names.kind)}`,
    specDescriptors: descriptors(properties["spec"]),
    statusDescriptors: descriptors(properties["status"]),
  };
}

function descriptors(schema: SampleSchema | undefined): readonly object[] {
  return Object.entries(schema?.properties ?? {}).map(([path, each]) => ({
    path,
    displayName: words(path),
    description: (each as { description?: string }).description ?? words(path),
  }));
}

/** An object of the kind that the server takes. */
function sampleOfCrd(crd: Crd): object {
  const version = storageVersion(crd);
  return {
    apiVersion: `${crd.spec.group}/${version.name}`,
    kind: crd.spec.names.kind,
    metadata: { name: "example" },
    spec: sampleOf(version.schema.openAPIV3Schema.properties?.["spec"] ?? { type: "object" }),
  };
}

function storageVersion({ metadata, spec }: Crd): Crd["spec"]["versions"][number] {
  const version = spec.versions.find(({ storage }) => storage);
  if (version === undefined) throw new Error(`CustomResourceDefinition "${metadata.name ?? ""}" stores no version`);
  return version;
}

function withoutNamespace(object: KubeObject): KubeObject {
  const { namespace: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function annotations(packageName: string, channel: string): Readonly<Record<string, string>> {
  const prefix = "operators.operatorframework.io.bundle";
  return {
    [`${prefix}.mediatype.v1`]: "registry+v1",
    [`${prefix}.manifests.v1`]: "manifests/",
    [`${prefix}.metadata.v1`]: "metadata/",
    [`${prefix}.package.v1`]: packageName,
    [`${prefix}.channels.v1`]: channel,
    [`${prefix}.channel.default.v1`]: channel,
    "operators.operatorframework.io.test.mediatype.v1": "scorecard+v1",
    "operators.operatorframework.io.test.config.v1": "tests/scorecard/",
  };
}

const scorecardImage = "quay.io/operator-framework/scorecard-test:v1.42.3";
const scorecardTests = [
  "basic-check-spec",
  "olm-bundle-validation",
  "olm-crds-have-validation",
  "olm-crds-have-resources",
  "olm-spec-descriptors",
  "olm-status-descriptors",
];

const scorecard = {
  apiVersion: "scorecard.operatorframework.io/v1alpha3",
  kind: "Configuration",
  metadata: { name: "config" },
  stages: [
    {
      parallel: true,
      tests: scorecardTests.map((test) => ({
        entrypoint: ["scorecard-test", test],
        image: scorecardImage,
        labels: { suite: test.startsWith("olm") ? "olm" : "basic", test: `${test}-test` },
      })),
    },
  ],
};

function dockerfile(packageName: string, channel: string): string {
  const labels = Object.entries(annotations(packageName, channel)).map(([name, value]) => `LABEL ${name}=${value}`);
  const copies = ["manifests", "metadata", "tests/scorecard"].map((folder) => `COPY ${folder} /${folder}/`);
  return `${["FROM scratch", ...labels, ...copies].join("\n")}\n`;
}

/** `etcd-operator` and `EtcdCluster` as a person writes them. */
function words(name: string): string {
  const spaced = name.replaceAll("-", " ").replaceAll(/([a-z])([A-Z])/g, "$1 $2");
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}
