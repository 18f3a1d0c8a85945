/** The Alertmanagers that alerts are sent to, and what is done to alerts before. */
import type { Alertmanager } from "../kind/remote-endpoints.ts";
import { endpointsRole, kubernetesDiscovery } from "./discovery.ts";
import { field, type Generation, given, has, type Section, since, type Value } from "./generation.ts";
import { authorization, basicAuth, proxyConfig, sigv4, tlsConfig } from "./http-settings.ts";
import { keepWhere, relabelConfigs } from "./relabeling.ts";

/** Lists in the form of Prometheus that users keep in Secrets. */
export interface AdditionalAlerting {
  readonly relabelConfigs?: readonly Value[] | undefined;
  readonly alertmanagers?: readonly Value[] | undefined;
}

export function alertingSection(generation: Generation, additional: AdditionalAlerting): Section {
  const { alerting, replicaExternalLabelName = "prometheus_replica" } = generation.prometheus.spec;
  if (alerting === undefined && additional.relabelConfigs === undefined && additional.alertmanagers === undefined)
    return {};
  // Without the label of the replica, the alerts of all replicas are one.
  const dropReplica = { action: "labeldrop", regex: quoted(replicaExternalLabelName) };
  return {
    alerting: {
      alert_relabel_configs: [
        ...(replicaExternalLabelName === "" ? [] : [dropReplica]),
        ...(additional.relabelConfigs ?? []),
      ],
      alertmanagers: [
        ...(alerting?.alertmanagers ?? []).map((each) => alertmanagerSection(generation, each)),
        ...(additional.alertmanagers ?? []),
      ],
    },
  };
}

function quoted(text: string): string {
  return text.replaceAll(/[\\.+*?()|[\]{}^$]/g, String.raw`\$&`);
}

function alertmanagerSection(generation: Generation, alertmanager: Alertmanager): Section {
  const own = generation.prometheus.metadata.namespace ?? "";
  const relabelings = alertmanager.alertRelabelings ?? [];
  return {
    ...field("scheme", alertmanager.scheme?.toLowerCase()),
    ...field("path_prefix", alertmanager.pathPrefix),
    ...field("timeout", alertmanager.timeout),
    ...since(generation, "2.35.0", "enable_http2", alertmanager.enableHttp2),
    ...tlsConfig(generation, own, alertmanager.tlsConfig),
    ...proxyConfig(generation, own, alertmanager),
    ...kubernetesDiscovery(generation, {
      role: endpointsRole(generation),
      namespace: alertmanager.namespace ?? own,
      accessNamespace: own,
    }),
    ...field("bearer_token_file", given(alertmanager.bearerTokenFile)),
    ...(has(generation, "2.26.0") ? basicAuth(generation, own, alertmanager.basicAuth) : {}),
    ...authorization(generation, own, alertmanager.authorization),
    ...sigv4(generation, own, "2.48.0", alertmanager.sigv4),
    ...apiVersion(generation, alertmanager.apiVersion),
    relabel_configs: [
      keepWhere("__meta_kubernetes_service_name", alertmanager.name),
      ...keepPort(generation, alertmanager.port),
      ...relabelConfigs(alertmanager.relabelings),
    ],
    ...(relabelings.length === 0
      ? {}
      : since(generation, "2.51.0", "alert_relabel_configs", relabelConfigs(relabelings))),
  };
}

/** Prometheus 3 no longer speaks the first version. */
function apiVersion(generation: Generation, asked: string | undefined): Section {
  const version = asked?.toLowerCase();
  const isKnown = version === "v2" || (version === "v1" && generation.version.major <= 2);
  return since(generation, "2.11.0", "api_version", isKnown ? version : undefined);
}

function keepPort(generation: Generation, port: string | number): readonly Section[] {
  if (port === "" || port === 0) return [];
  if (typeof port === "number") return [keepWhere("__meta_kubernetes_pod_container_port_number", String(port))];
  const kind = endpointsRole(generation) === "endpointslice" ? "endpointslice" : "endpoint";
  return [keepWhere(`__meta_kubernetes_${kind}_port_name`, port)];
}
