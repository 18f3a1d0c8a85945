/** The objects of an Alertmanager besides its StatefulSet; pure. */
import { gzipSync } from "node:zlib";
import { Secret, Service } from "setpoint/kinds";
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
import { labels, manager, webConfigFile } from "./names.ts";
import { checkServerTls, webConfiguration } from "./web-server.ts";

function base64(data: string | Buffer): string {
  return Buffer.from(data).toString("base64");
}

function secretOf({ metadata }: Alertmanager, name: string, data: Readonly<Record<string, string>>): Secret {
  const place = { namespace: metadata.namespace ?? "", labels: alertmanagerLabels(metadata.name ?? "") };
  return Secret({ name, ...place, type: "Opaque", data });
}

/** The configuration, compressed as upstream's is, and the templates of the user, in base64. */
export function generatedSecret(
  alertmanager: Alertmanager,
  configuration: string,
  files: Readonly<Record<string, string>>,
): Secret {
  const compressed = base64(gzipSync(configuration));
  const name = generatedSecretName(alertmanager.metadata.name ?? "");
  return secretOf(alertmanager, name, { ...files, [alertmanagerConfigFile]: compressed });
}

/** Certificates and keys that the configuration names as files. */
export function receiverTlsSecret(alertmanager: Alertmanager, files: Readonly<Record<string, string>>): Secret {
  const data = Object.fromEntries(Object.entries(files).map(([name, text]) => [name, base64(text)]));
  return secretOf(alertmanager, `${alertmanagerName(alertmanager.metadata.name ?? "")}-tls-assets-0`, data);
}

/** Throws `ConfigurationRefused` for TLS that lacks something. */
export function webSecrets(alertmanager: Alertmanager): readonly Secret[] {
  const { metadata, spec } = alertmanager;
  const name = alertmanagerName(metadata.name ?? "");
  if (spec.web?.tlsConfig !== undefined) checkServerTls(spec.web.tlsConfig, "spec.web.tlsConfig");
  const web = webConfiguration(spec.web, alertmanagerWebFolder);
  const { clusterTLS } = spec;
  return [
    secretOf(alertmanager, `${name}-web-config`, { [webConfigFile]: base64(web) }),
    ...(clusterTLS === undefined
      ? []
      : [
          secretOf(alertmanager, `${name}-cluster-tls-config`, {
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
