/** The objects of a Prometheus besides its StatefulSets; pure. */
import { gzipSync } from "node:zlib";
import { ConfigMap, Secret, Service } from "setpoint/kinds";
import type { Prometheus } from "../kind/prometheus.ts";
import { ruleConfigMapName } from "../rules/rule-files.ts";
import {
  configFile,
  governingService,
  labels,
  manager,
  ownLabels,
  prefixed,
  prometheusPort,
  tlsSecretName,
  webConfigFile,
  webConfigSecretName,
} from "./names.ts";

interface Place {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
}

function placeOf({ metadata }: Prometheus, name: string): Place {
  return { name, namespace: metadata.namespace ?? "", labels: ownLabels(metadata.name ?? "") };
}

function base64(data: string | Buffer): string {
  return Buffer.from(data).toString("base64");
}

/** The configuration, compressed as upstream's is. */
export function configurationSecret(prometheus: Prometheus, configuration: string): Secret {
  return Secret({
    ...placeOf(prometheus, prefixed(prometheus.metadata.name ?? "")),
    type: "Opaque",
    data: { [configFile]: base64(gzipSync(configuration)) },
  });
}

/** Certificates and keys that the configuration names as files. */
export function tlsSecret(prometheus: Prometheus, files: Readonly<Record<string, string>>): Secret {
  return Secret({
    ...placeOf(prometheus, tlsSecretName(prometheus.metadata.name ?? "")),
    type: "Opaque",
    data: Object.fromEntries(Object.entries(files).map(([name, text]) => [name, base64(text)])),
  });
}

/** Empty: Prometheus serves without TLS. */
export function webConfigSecret(prometheus: Prometheus): Secret {
  return Secret({
    ...placeOf(prometheus, webConfigSecretName(prometheus.metadata.name ?? "")),
    type: "Opaque",
    data: { [webConfigFile]: base64("") },
  });
}

export function rulesConfigMap(
  prometheus: Prometheus,
  index: number,
  files: Readonly<Record<string, string>>,
): ConfigMap {
  const { name = "" } = prometheus.metadata;
  const place = placeOf(prometheus, ruleConfigMapName(name, index));
  return ConfigMap({ ...place, labels: { ...place.labels, "prometheus-name": name }, data: files });
}

/** Gives the pods of all Prometheuses of a namespace their names; it belongs to none of them. */
export function operatedService(namespace: string): Service {
  return Service({
    name: governingService,
    namespace,
    labels: { "operated-prometheus": "true", [labels.managedBy]: manager },
    spec: {
      clusterIP: "None",
      ports: [{ name: "web", port: prometheusPort, targetPort: prometheusPort, protocol: "TCP" }],
      selector: { "app.kubernetes.io/name": "prometheus" },
    },
  });
}
