/** Operates Prometheus by the kinds of monitoring.coreos.com; see the README beside this package. */
export { Alertmanager } from "./kind/alertmanager.ts";
export { AlertmanagerConfig } from "./kind/alertmanager-config.ts";
export { PodMonitor } from "./kind/pod-monitor.ts";
export { Probe } from "./kind/probe.ts";
export { Prometheus } from "./kind/prometheus.ts";
export { PrometheusAgent } from "./kind/prometheus-agent.ts";
export { PrometheusRule } from "./kind/prometheus-rule.ts";
export { ScrapeConfig } from "./kind/scrape-config.ts";
export { ServiceMonitor } from "./kind/service-monitor.ts";
export { ThanosRuler } from "./kind/thanos-ruler.ts";
export { configurationText, generateAgentConfiguration, generateConfiguration } from "./generate/configuration.ts";
export type { ConfigurationSources, GeneratedConfiguration } from "./generate/configuration.ts";
export { prometheusOperator } from "./prometheus-operator.ts";
export { httpLoadedGateway } from "./observe/loaded-gateway.ts";
