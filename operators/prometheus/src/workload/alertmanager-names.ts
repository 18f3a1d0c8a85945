/** Names, labels and paths of what an Alertmanager consists of; they are upstream's. */
import { labels, manager } from "./names.ts";

export const alertmanagerService = "alertmanager-operated";
export const alertmanagerFolder = "/etc/alertmanager";
export const alertmanagerConfigFolder = `${alertmanagerFolder}/config`;
/** In the Secret of the user, and gzipped in that of the operator. */
export const alertmanagerFile = "alertmanager.yaml";
export const alertmanagerConfigFile = `${alertmanagerFile}.gz`;
export const alertmanagerOutputFolder = `${alertmanagerFolder}/config_out`;
export const alertmanagerOutputFile = `${alertmanagerOutputFolder}/alertmanager.env.yaml`;
export const alertmanagerWebFolder = `${alertmanagerFolder}/web_config`;
export const clusterTlsFolder = `${alertmanagerFolder}/cluster_tls_config`;
export const clusterTlsFile = "cluster-tls-config.yaml";
export const alertmanagerPort = 9_093;
export const meshPort = 9_094;
/** The label of pods whose value is the name of their Alertmanager. */
export const alertmanagerLabel = "alertmanager";

export function alertmanagerName(alertmanager: string): string {
  return `alertmanager-${alertmanager}`;
}

export function generatedSecretName(alertmanager: string): string {
  return `${alertmanagerName(alertmanager)}-generated`;
}

/** The labels of the pods, by which the StatefulSet knows them. */
export function alertmanagerSelector(alertmanager: string): Readonly<Record<string, string>> {
  return {
    "app.kubernetes.io/name": "alertmanager",
    "app.kubernetes.io/managed-by": manager,
    "app.kubernetes.io/instance": alertmanager,
    [alertmanagerLabel]: alertmanager,
  };
}

/** Labels of everything that belongs to an Alertmanager. */
export function alertmanagerLabels(alertmanager: string): Readonly<Record<string, string>> {
  return { [labels.managedBy]: manager, ...alertmanagerSelector(alertmanager) };
}
