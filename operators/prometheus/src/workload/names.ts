/** Names, labels and paths of what a Prometheus consists of; they are upstream's. */

export const governingService = "prometheus-operated";
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

/** Labels of everything that belongs to a Prometheus. */
export function ownLabels(prometheus: string): Readonly<Record<string, string>> {
  return { [labels.managedBy]: manager, [labels.name]: prometheus };
}

/** The labels of the pods, by which the StatefulSet knows them. */
export function podSelector(prometheus: string, shard: number): Readonly<Record<string, string>> {
  return {
    [labels.managedBy]: manager,
    "app.kubernetes.io/name": "prometheus",
    "app.kubernetes.io/instance": prometheus,
    [labels.name]: prometheus,
    prometheus,
    [labels.shard]: String(shard),
  };
}

export function prefixed(prometheus: string): string {
  return `prometheus-${prometheus}`;
}

export function statefulSetName(prometheus: string, shard: number): string {
  return shard === 0 ? prefixed(prometheus) : `${prefixed(prometheus)}-shard-${shard}`;
}

export function tlsSecretName(prometheus: string): string {
  return `${prefixed(prometheus)}-tls-assets-0`;
}

export function webConfigSecretName(prometheus: string): string {
  return `${prefixed(prometheus)}-web-config`;
}

export function volumeName(prometheus: string): string {
  return `${prefixed(prometheus)}-db`;
}
