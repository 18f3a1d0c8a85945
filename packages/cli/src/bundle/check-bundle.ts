/** What makes a bundle unfit for the Operator Lifecycle Manager, found before it is pushed. */
import type { KubeObject } from "@setpoint/apimachinery";
import { decodeJson } from "@setpoint/apimachinery";
import { parse } from "yaml";
import { isSemanticVersion } from "../manifests/semantic-version.ts";

interface Csv {
  readonly metadata?: { readonly name?: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: {
    readonly displayName?: string;
    readonly version?: string;
    readonly installModes?: readonly { readonly supported: boolean }[];
    readonly customresourcedefinitions?: {
      readonly owned?: readonly { readonly name: string; readonly kind: string; readonly version: string }[];
    };
    readonly webhookdefinitions?: readonly { readonly generateName: string; readonly deploymentName: string }[];
    readonly install?: {
      readonly strategy?: string;
      readonly spec?: {
        readonly deployments?: readonly {
          readonly name?: string;
          readonly spec?: { readonly template?: { readonly spec?: { readonly serviceAccountName?: string } } };
        }[];
        readonly clusterPermissions?: readonly Permission[];
        readonly permissions?: readonly Permission[];
      };
    };
  };
}

interface Permission {
  readonly serviceAccountName: string;
  readonly rules?: readonly { readonly verbs: readonly string[]; readonly resources?: readonly string[] }[];
}

const mediaType = "operators.operatorframework.io.bundle.mediatype.v1";

/**
 * Sentences, each with the path of the file and field; none for a bundle that is fit. `files` is text by
 * path.
 */
export function checkBundle(files: ReadonlyMap<string, string>): readonly string[] {
  const csvs = [...files.keys()].filter((path) => path.endsWith(".clusterserviceversion.yaml"));
  const [path] = csvs;
  if (path === undefined || csvs.length > 1)
    return [`manifests/: ${csvs.length} files end with .clusterserviceversion.yaml, expected one`];
  const csv = parse(files.get(path) ?? "") as Csv;
  const crds = [...files]
    .filter(([file]) => file.startsWith("manifests/") && file !== path)
    .map(([, text]) => parse(text) as KubeObject)
    .filter(({ kind }) => kind === "CustomResourceDefinition");
  return [
    ...checkIdentity(path, csv),
    ...checkOwned(path, csv, crds),
    ...checkExamples(path, csv),
    ...checkInstall(path, csv),
    ...checkWebhooks(path, csv),
    ...checkMetadata(files),
  ];
}

function checkIdentity(path: string, { metadata, spec }: Csv): readonly string[] {
  const found: string[] = [];
  const version = spec?.version ?? "";
  if (!isSemanticVersion(version)) found.push(`${path} spec.version: "${version}" is not a semantic version, as 1.2.3`);
  if (metadata?.name?.endsWith(`.v${version}`) !== true)
    found.push(`${path} metadata.name: "${metadata?.name}" does not end with .v${version}`);
  if (spec?.displayName === undefined) found.push(`${path} spec.displayName: is missing`);
  if (spec?.installModes?.some(({ supported }) => supported) !== true)
    found.push(`${path} spec.installModes: none is supported`);
  return found;
}

function checkOwned(path: string, { spec }: Csv, crds: readonly KubeObject[]): readonly string[] {
  const owned = spec?.customresourcedefinitions?.owned ?? [];
  const names = crds.map(({ metadata }) => metadata.name);
  return [
    ...owned.filter(({ name }) => !names.includes(name)).map(({ name }) => `${path}: owned "${name}" has no file`),
    ...names
      .filter((name) => !owned.some((each) => each.name === name))
      .map((name) => `${path}: "${name}" is not owned`),
  ];
}

function checkExamples(path: string, { metadata, spec }: Csv): readonly string[] {
  const field = `${path} metadata.annotations.alm-examples`;
  try {
    const examples = decodeJson(metadata?.annotations?.["alm-examples"] ?? "") as readonly KubeObject[];
    return (spec?.customresourcedefinitions?.owned ?? [])
      .filter(({ kind }) => !examples.some((each) => each.kind === kind && "spec" in each))
      .map(({ kind }) => `${field}: ${kind} has no example with a spec`);
  } catch {
    return [`${field}: is not a JSON list`];
  }
}

function checkInstall(path: string, { spec }: Csv): readonly string[] {
  const { strategy, spec: install } = spec?.install ?? {};
  if (strategy !== "deployment") return [`${path} spec.install.strategy: "${strategy}", expected deployment`];
  const accounts = [...(install?.clusterPermissions ?? []), ...(install?.permissions ?? [])];
  const used = (install?.deployments ?? []).map(({ spec: each }) => each?.template?.spec?.serviceAccountName);
  const wild = accounts
    .flatMap(({ rules = [] }) => rules)
    .some(({ verbs, resources = [] }) => [...verbs, ...resources].includes("*"));
  return [
    ...(used.length === 0 ? [`${path} spec.install.spec.deployments: is empty`] : []),
    ...used
      .filter((name) => !accounts.some(({ serviceAccountName }) => serviceAccountName === name))
      .map((name) => `${path}: service account "${name}" of the Deployment has no permissions`),
    ...(wild ? [`${path} spec.install.spec: a rule allows "*"`] : []),
  ];
}

function checkWebhooks(path: string, { spec }: Csv): readonly string[] {
  const deployments = (spec?.install?.spec?.deployments ?? []).map(({ name }) => name);
  return (spec?.webhookdefinitions ?? [])
    .filter(({ deploymentName }) => !deployments.includes(deploymentName))
    .map(
      ({ generateName, deploymentName }) =>
        `${path} spec.webhookdefinitions: Deployment "${deploymentName}" of webhook "${generateName}" is missing`,
    );
}

function checkMetadata(files: ReadonlyMap<string, string>): readonly string[] {
  const path = "metadata/annotations.yaml";
  const text = files.get(path);
  if (text === undefined) return [`${path}: is missing`];
  const { annotations = {} } = parse(text) as { readonly annotations?: Readonly<Record<string, string>> };
  return annotations[mediaType] === "registry+v1" ? [] : [`${path} ${mediaType}: expected registry+v1`];
}
