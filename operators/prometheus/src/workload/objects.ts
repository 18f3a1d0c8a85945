/** The objects of a Prometheus or of an agent besides its pods; pure. */
import { type ConfigMap, type Secret, Service } from "setpoint/kinds";
import type { AnyPrometheus, Prometheus } from "../kind/prometheus.ts";
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
import { base64, compressed, ownSecret, type Place, tlsAssetsSecret, webConfigSecret } from "./own-secret.ts";
import { rulesConfigMaps } from "./rules-config-maps.ts";
import { grpcPort } from "./thanos-flags.ts";
import { httpClientFile, httpClientSecretName } from "./thanos-sidecar.ts";

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

export function ruleObjects(
  prometheus: Prometheus,
  packs: readonly Readonly<Record<string, string>>[],
): readonly ConfigMap[] {
  const { name = "" } = prometheus.metadata;
  return rulesConfigMaps(placeOf(prometheus), prefixed(prometheus), { "prometheus-name": name }, packs);
}

/** How the sidecar of Thanos asks the server in its pod, whose certificate is for another name. */
export function sidecarSecrets(prometheus: Prometheus): readonly Secret[] {
  if (prometheus.spec.thanos === undefined) return [];
  const data = { [httpClientFile]: base64("tls_config:\n  insecure_skip_verify: true\n") };
  return [ownSecret(placeOf(prometheus), httpClientSecretName(prometheus), data)];
}

/** Gives the pods of all Prometheuses, or agents, of a namespace their names; it is nobody's. */
export function operatedService({ kind, metadata }: AnyPrometheus, hasSidecars = false): Service {
  const service = governingService({ kind });
  const [operated] = service.split("-operated");
  return Service({
    name: service,
    namespace: metadata.namespace ?? "",
    labels: { [`operated-${operated ?? ""}`]: "true", [labels.managedBy]: manager },
    spec: {
      clusterIP: "None",
      ports: [
        { name: "web", port: prometheusPort, targetPort: prometheusPort, protocol: "TCP" },
        ...(hasSidecars ? [{ name: "grpc", port: grpcPort, targetPort: grpcPort, protocol: "TCP" as const }] : []),
      ],
      selector: { "app.kubernetes.io/name": applicationName({ kind }) },
    },
  });
}
