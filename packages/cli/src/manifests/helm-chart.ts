/** The files of a Helm chart that installs what the plain manifests install. */
import type { KubeObject } from "@setpoint/apimachinery";
import type { Operator } from "setpoint";
import { installManifests, type InstalledRun, type InstallExtra, type PolicyRule } from "setpoint/install";
import { manifestsYaml, objectYaml } from "./manifests-yaml.ts";

export interface HelmChartOptions {
  readonly image: string;
  readonly rules?: readonly PolicyRule[];
  readonly run?: InstalledRun;
  /** Objects that are switched on by default; the others are in the chart too. */
  readonly extras: readonly InstallExtra[];
  /** The chart's own version. */
  readonly version: string;
}

/** What stands in the objects until the YAML is made; Helm's expressions are no YAML. */
const namespacePlaceholder = "helm-release-namespace";
const valuePlaceholder = /^( *)(- )?([\w-]+): helm-value-([\w-]+)$/gm;

/** A place in the list of variables, whose other items the operator needs. */
const moreEnvPlaceholder = { name: "helm-more-env" };
const moreEnvLine = /^( *)- name: helm-more-env$/gm;

const switches: Readonly<Record<InstallExtra, string>> = {
  NetworkPolicy: "networkPolicy",
  PodDisruptionBudget: "podDisruptionBudget",
  MetricsService: "metricsService",
  ServiceMonitor: "serviceMonitor",
};
// A Namespace is Helm's own business (`--create-namespace`).
const leftOut: ReadonlySet<string> = new Set(["Namespace"]);
const rbacKinds: ReadonlySet<string> = new Set([
  "ServiceAccount",
  "ClusterRole",
  "ClusterRoleBinding",
  "Role",
  "RoleBinding",
]);

/** The files of the chart, text by path. */
export function helmChart(operator: Operator, options: HelmChartOptions): ReadonlyMap<string, string> {
  const extras = Object.keys(switches) as readonly InstallExtra[];
  const { image, rules, run = {} } = options;
  const objects = installManifests(operator, {
    image,
    namespace: namespacePlaceholder,
    extras,
    run,
    ...(rules === undefined ? {} : { rules }),
  }).filter(({ kind }) => !leftOut.has(kind));
  const byFile = Map.groupBy(objects, fileOf);
  const templates = [...byFile].map(([file, those]) => [`templates/${file}`, template(file, those)] as const);
  return new Map([
    ["Chart.yaml", chartYaml(operator, options)],
    ["values.yaml", valuesYaml(options)],
    [".helmignore", "*.tgz\n.git/\n"],
    ...templates,
    ["templates/NOTES.txt", notes(operator)],
  ]);
}

function fileOf({ kind, metadata }: KubeObject): string {
  if (kind === "CustomResourceDefinition") return "crds.yaml";
  if (rbacKinds.has(kind)) return "rbac.yaml";
  if (kind === "Service" && metadata.name?.endsWith("-metrics") === true) return "metricsservice.yaml";
  return `${kind.toLowerCase()}.yaml`;
}

function template(file: string, objects: readonly KubeObject[]): string {
  const changed = objects.map((object) => (object.kind === "Deployment" ? withValues(object) : object));
  const text = withExpressions(escaped(manifestsYaml(changed)));
  if (file === "crds.yaml") return `{{- if .Values.crds.install }}\n${withKeep(text)}{{- end }}\n`;
  const extra = Object.entries(switches).find(([kind]) => `${kind.toLowerCase()}.yaml` === file)?.[1];
  return extra === undefined ? text : `{{- if .Values.${extra}.enabled }}\n${text}{{- end }}\n`;
}

/** Descriptions of fields may hold what Helm would take for an expression. */
function escaped(yaml: string): string {
  return yaml.replaceAll("{{", '{{ "{{" }}');
}

/** The parts of the Deployment that people change from place to place. */
function withValues(deployment: KubeObject): KubeObject {
  const { spec, ...rest } = deployment as KubeObject & { readonly spec: DeploymentSpec };
  const { template } = spec;
  const containers = template.spec.containers.map((container) => ({
    ...container,
    image: "helm-value-image",
    imagePullPolicy: "helm-value-pull-policy",
    env: [...container.env.map((each) => withImageValue(each, container.image)), moreEnvPlaceholder],
    resources: "helm-value-resources",
    volumeMounts: "helm-value-volume-mounts",
  }));
  const places = {
    imagePullSecrets: "helm-value-pull-secrets",
    nodeSelector: "helm-value-node-selector",
    tolerations: "helm-value-tolerations",
    affinity: "helm-value-affinity",
    volumes: "helm-value-volumes",
  };
  const metadata = { ...template.metadata, annotations: "helm-value-pod-annotations" };
  const pod = { metadata, spec: { ...template.spec, ...places, containers } };
  return { ...rest, spec: { ...spec, replicas: "helm-value-replicas", template: pod } } as KubeObject;
}

/** A variable has the image of the operator, which is a value of the chart. */
function withImageValue(variable: { readonly value?: string }, image: string): object {
  return variable.value === image ? { ...variable, value: "helm-value-image" } : variable;
}

/** The part of a Deployment that is changed here. */
interface DeploymentSpec {
  readonly template: {
    readonly metadata: object;
    readonly spec: {
      readonly containers: readonly { readonly image: string; readonly env: readonly { readonly value?: string }[] }[];
    };
  };
}

const expressions: Readonly<Record<string, string>> = {
  image: '"{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"',
  "pull-policy": "{{ .Values.image.pullPolicy }}",
  replicas: "{{ .Values.replicas }}",
};
const blocks: Readonly<Record<string, string>> = {
  resources: "resources",
  "pull-secrets": "imagePullSecrets",
  "node-selector": "nodeSelector",
  tolerations: "tolerations",
  affinity: "affinity",
  volumes: "volumes",
  "volume-mounts": "volumeMounts",
  "pod-annotations": "podAnnotations",
};

function withExpressions(yaml: string): string {
  return yaml
    .replaceAll(namespacePlaceholder, "{{ .Release.Namespace }}")
    .replaceAll(
      moreEnvLine,
      (_line, indent: string) => `${indent}{{- with .Values.env }}{{- toYaml . | nindent ${indent.length} }}{{- end }}`,
    )
    .replaceAll(valuePlaceholder, (line: string, indent: string, dash = "", key: string, value: string) => {
      const expression = expressions[value];
      if (expression !== undefined) return `${indent}${dash}${key}: ${expression}`;
      const block = blocks[value];
      const depth = indent.length + dash.length + 2;
      return block === undefined ? line : `${indent}${dash}${key}: {{- toYaml .Values.${block} | nindent ${depth} }}`;
    });
}

/** Definitions outlive the release, because with them all objects of their kind would go. */
function withKeep(yaml: string): string {
  const keep = "    {{- if .Values.crds.keep }}\n    helm.sh/resource-policy: keep\n    {{- end }}\n";
  return yaml
    .split("---\n")
    .map((document) =>
      /^ {2}annotations:\n/m.test(document)
        ? document.replace(/^ {2}annotations:\n/m, (line) => line + keep)
        : document.replace(/^metadata:\n/m, (line) => `${line}  annotations:\n${keep}`),
    )
    .join("---\n");
}

function chartYaml({ name, kinds, relatedImages }: Operator, { image, version }: HelmChartOptions): string {
  const managed = kinds.map(({ kind }) => kind).join(", ");
  return objectYaml({
    apiVersion: "v2",
    name: `${name}-operator`,
    description: `The ${name} operator${managed === "" ? "" : `, for ${managed}`}`,
    type: "application",
    version,
    appVersion: imageParts(image).tag,
    annotations: { "artifacthub.io/images": objectYaml([{ name: "operator", image }, ...relatedImages]) },
  });
}

function valuesYaml({ image, extras }: HelmChartOptions): string {
  const { repository, tag } = imageParts(image);
  const on = (extra: InstallExtra): object => ({ enabled: extras.includes(extra) });
  return objectYaml({
    image: { repository, tag, pullPolicy: "IfNotPresent" },
    imagePullSecrets: [],
    replicas: 1,
    resources: { requests: { cpu: "50m", memory: "96Mi" } },
    env: [],
    volumes: [],
    volumeMounts: [],
    podAnnotations: {},
    nodeSelector: {},
    tolerations: [],
    affinity: {},
    crds: { install: true, keep: true },
    ...Object.fromEntries(Object.entries(switches).map(([extra, name]) => [name, on(extra as InstallExtra)])),
  });
}

/** A port of the registry is no tag. */
function imageParts(image: string): { readonly repository: string; readonly tag: string } {
  const at = image.lastIndexOf(":");
  if (at === -1 || image.slice(at).includes("/")) return { repository: image, tag: "latest" };
  return { repository: image.slice(0, at), tag: image.slice(at + 1) };
}

function notes({ name, kinds }: Operator): string {
  const [first] = kinds;
  const look =
    first === undefined ? "" : `\nIts objects: kubectl get ${first.plural}.${first.group} --all-namespaces\n`;
  return `The ${name} operator runs in {{ .Release.Namespace }}:\n  kubectl get deployment ${name}-operator -n {{ .Release.Namespace }}\n${look}`;
}
