/** Names, labels and paths of what a Prometheus or an agent consists of; they are upstream's. */

export const configFolder = "/etc/prometheus/config";
export const configFile = "prometheus.yaml.gz";
export const outputFolder = "/etc/prometheus/config_out";
export const outputFile = `${outputFolder}/prometheus.env.yaml`;
export const webConfigFolder = "/etc/prometheus/web_config";
export const webConfigFile = "web-config.yaml";
export const storageFolder = "/prometheus";
export const prometheusPort = 9_090;
export const reloaderPort = 8_080;

export const labels = {
  managedBy: "managed-by",
  name: "operator.prometheus.io/name",
  shard: "operator.prometheus.io/shard",
  mode: "operator.prometheus.io/mode",
} as const;

/** The value of `managed-by`; it is upstream's. */
export const manager = "prometheus-operator";
/** Selects all objects of this operator. */
export const managedSelector: string = `${labels.managedBy}=${manager}`;

/** A Prometheus or a PrometheusAgent: by its kind, the names of its objects differ. */
export interface OfPrometheus {
  readonly kind: string;
  readonly metadata: { readonly name?: string };
}

export function isAgent({ kind }: Pick<OfPrometheus, "kind">): boolean {
  return kind === "PrometheusAgent";
}

/** The Service that gives the pods their names. */
export function governingService(of: Pick<OfPrometheus, "kind">): string {
  return isAgent(of) ? "prometheus-agent-operated" : "prometheus-operated";
}

/** The value of `app.kubernetes.io/name` of the pods. */
export function applicationName(of: Pick<OfPrometheus, "kind">): string {
  return isAgent(of) ? "prometheus-agent" : "prometheus";
}

/** Labels of everything that belongs to a Prometheus. */
export function ownLabels({ metadata }: OfPrometheus): Readonly<Record<string, string>> {
  return { [labels.managedBy]: manager, [labels.name]: metadata.name ?? "" };
}

/** The labels of the pods, by which the StatefulSet knows them; a DaemonSet has no shard. */
export function podSelector(of: OfPrometheus, shard?: number): Readonly<Record<string, string>> {
  const name = of.metadata.name ?? "";
  return {
    ...(isAgent(of) ? { "app.kubernetes.io/managed-by": manager } : { [labels.managedBy]: manager, prometheus: name }),
    "app.kubernetes.io/name": applicationName(of),
    "app.kubernetes.io/instance": name,
    [labels.name]: name,
    ...(shard === undefined ? {} : { [labels.shard]: String(shard) }),
  };
}

export function prefixed(of: OfPrometheus): string {
  return `${isAgent(of) ? "prom-agent" : "prometheus"}-${of.metadata.name ?? ""}`;
}

export function statefulSetName(of: OfPrometheus, shard: number): string {
  return shard === 0 ? prefixed(of) : `${prefixed(of)}-shard-${shard}`;
}

export function tlsSecretName(of: OfPrometheus): string {
  return `${prefixed(of)}-tls-assets-0`;
}

export function webConfigSecretName(of: OfPrometheus): string {
  return `${prefixed(of)}-web-config`;
}

export function volumeName(of: OfPrometheus): string {
  return `${prefixed(of)}-db`;
}
