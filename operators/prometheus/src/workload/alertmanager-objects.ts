/** The objects of an Alertmanager besides its StatefulSet; pure. */
import { type Secret, Service } from "setpoint/kinds";
import type { Alertmanager } from "../kind/alertmanager.ts";
import {
  alertmanagerConfigFile,
  alertmanagerLabels,
  alertmanagerName,
  alertmanagerPort,
  alertmanagerService,
  alertmanagerWebFolder,
  clusterTlsFile,
  generatedSecretName,
  meshPort,
} from "./alertmanager-names.ts";
import { clusterTlsConfiguration } from "./cluster-tls.ts";
import { labels, manager } from "./names.ts";
import { base64, compressed, ownSecret, type Place, tlsAssetsSecret, webConfigSecret } from "./own-secret.ts";

function placeOf({ metadata }: Alertmanager): Place {
  return { namespace: metadata.namespace ?? "", labels: alertmanagerLabels(metadata.name ?? "") };
}

/** The configuration, compressed as upstream's is, and the templates of the user, in base64. */
export function generatedSecret(
  alertmanager: Alertmanager,
  configuration: string,
  files: Readonly<Record<string, string>>,
): Secret {
  const name = generatedSecretName(alertmanager.metadata.name ?? "");
  return ownSecret(placeOf(alertmanager), name, { ...files, [alertmanagerConfigFile]: compressed(configuration) });
}

/** Certificates and keys that the configuration names as files. */
export function receiverTlsSecret(alertmanager: Alertmanager, files: Readonly<Record<string, string>>): Secret {
  const name = `${alertmanagerName(alertmanager.metadata.name ?? "")}-tls-assets-0`;
  return tlsAssetsSecret(placeOf(alertmanager), name, files);
}

/** Throws `ConfigurationRefused` for TLS that lacks something. */
export function webSecrets(alertmanager: Alertmanager): readonly Secret[] {
  const { metadata, spec } = alertmanager;
  const name = alertmanagerName(metadata.name ?? "");
  const place = placeOf(alertmanager);
  const { clusterTLS } = spec;
  return [
    webConfigSecret(place, `${name}-web-config`, spec.web, alertmanagerWebFolder),
    ...(clusterTLS === undefined
      ? []
      : [
          ownSecret(place, `${name}-cluster-tls-config`, {
            [clusterTlsFile]: base64(clusterTlsConfiguration(clusterTLS)),
          }),
        ]),
  ];
}

/**
 * Gives the pods of all Alertmanagers of a namespace their names; it belongs to none of them. Pods that are
 * not ready have names too: they must find each other before.
 */
export function alertmanagersService(namespace: string, portName: string): Service {
  return Service({
    name: alertmanagerService,
    namespace,
    labels: { "operated-alertmanager": "true", [labels.managedBy]: manager },
    spec: {
      clusterIP: "None",
      publishNotReadyAddresses: true,
      ports: [
        { name: portName, port: alertmanagerPort, targetPort: alertmanagerPort, protocol: "TCP" },
        { name: "tcp-mesh", port: meshPort, targetPort: meshPort, protocol: "TCP" },
        { name: "udp-mesh", port: meshPort, targetPort: meshPort, protocol: "UDP" },
      ],
      selector: { "app.kubernetes.io/name": "alertmanager" },
    },
  });
}
