/** The objects of a ThanosRuler besides its StatefulSet; pure. */
import { type ConfigMap, type Secret, Service } from "setpoint/kinds";
import type { ThanosRuler } from "../kind/thanos-ruler.ts";
import { labels, manager } from "./names.ts";
import { type Place, webConfigSecret } from "./own-secret.ts";
import { rulesConfigMaps } from "./rules-config-maps.ts";
import { grpcPort, thanosPort } from "./thanos-flags.ts";
import { rulerLabels, rulerName, rulerService, rulerWebFolder } from "./thanos-names.ts";

function placeOf({ metadata }: ThanosRuler): Place {
  return { namespace: metadata.namespace ?? "", labels: rulerLabels(metadata.name ?? "") };
}

/** Throws `ConfigurationRefused` for TLS that lacks something. */
export function rulerWebSecret(ruler: ThanosRuler): Secret {
  const name = `${rulerName(ruler.metadata.name ?? "")}-web-config`;
  return webConfigSecret(placeOf(ruler), name, ruler.spec.web, rulerWebFolder);
}

export function rulerRules(
  ruler: ThanosRuler,
  packs: readonly Readonly<Record<string, string>>[],
): readonly ConfigMap[] {
  const { name = "" } = ruler.metadata;
  return rulesConfigMaps(placeOf(ruler), rulerName(name), { "thanos-ruler-name": name }, packs);
}

/** Gives the pods of all ThanosRulers of a namespace their names; it belongs to none of them. */
export function rulersService(namespace: string, portName: string): Service {
  return Service({
    name: rulerService,
    namespace,
    labels: { "operated-thanos-ruler": "true", [labels.managedBy]: manager },
    spec: {
      clusterIP: "None",
      ports: [
        { name: portName, port: thanosPort, targetPort: thanosPort, protocol: "TCP" },
        { name: "grpc", port: grpcPort, targetPort: grpcPort, protocol: "TCP" },
      ],
      selector: { "app.kubernetes.io/name": "thanos-ruler" },
    },
  });
}
