/** The objects of a Prometheus or of an agent besides its pods; pure. */
import { ConfigMap, type Secret, Service } from "setpoint/kinds";
import type { AnyPrometheus, Prometheus } from "../kind/prometheus.ts";
import { ruleConfigMapName } from "../rules/rule-files.ts";
import {
  applicationName,
  configFile,
  governingService,
  labels,
  manager,
  ownLabels,
  prefixed,
  prometheusPort,
  tlsSecretName,
  webConfigFolder,
  webConfigSecretName,
} from "./names.ts";
import { compressed, ownSecret, type Place, tlsAssetsSecret, webConfigSecret } from "./own-secret.ts";

function placeOf(prometheus: AnyPrometheus): Place {
  return { namespace: prometheus.metadata.namespace ?? "", labels: ownLabels(prometheus) };
}

export function configurationSecret(prometheus: AnyPrometheus, configuration: string): Secret {
  return ownSecret(placeOf(prometheus), prefixed(prometheus), { [configFile]: compressed(configuration) });
}

/** Certificates and keys that the configuration names as files, and how the own pages are served. */
export function webSecrets(prometheus: AnyPrometheus, files: Readonly<Record<string, string>>): readonly Secret[] {
  const place = placeOf(prometheus);
  return [
    tlsAssetsSecret(place, tlsSecretName(prometheus), files),
    webConfigSecret(place, webConfigSecretName(prometheus), prometheus.spec.web, webConfigFolder),
  ];
}

export function rulesConfigMap(
  prometheus: Prometheus,
  index: number,
  files: Readonly<Record<string, string>>,
): ConfigMap {
  const { name = "" } = prometheus.metadata;
  const place = placeOf(prometheus);
  return ConfigMap({
    ...place,
    name: ruleConfigMapName(prefixed(prometheus), index),
    labels: { ...place.labels, "prometheus-name": name },
    data: files,
  });
}

/** Gives the pods of all Prometheuses, or agents, of a namespace their names; it belongs to none of them. */
export function operatedService({ kind, metadata }: AnyPrometheus): Service {
  const service = governingService({ kind });
  const [operated] = service.split("-operated");
  return Service({
    name: service,
    namespace: metadata.namespace ?? "",
    labels: { [`operated-${operated ?? ""}`]: "true", [labels.managedBy]: manager },
    spec: {
      clusterIP: "None",
      ports: [{ name: "web", port: prometheusPort, targetPort: prometheusPort, protocol: "TCP" }],
      selector: { "app.kubernetes.io/name": applicationName({ kind }) },
    },
  });
}
