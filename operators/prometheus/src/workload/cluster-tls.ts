/** How the pods of an Alertmanager prove themselves to one another; pure. */
import { stringify } from "yaml";
import { ConfigurationRefused, field, given } from "../generate/generation.ts";
import type { AlertmanagerSpec } from "../kind/alertmanager.ts";
import type { ServerTls } from "../kind/web-server.ts";
import { clusterTlsFolder } from "./alertmanager-names.ts";
import { checkServerTls, type MountedFiles, serverTlsFiles, serverTlsSection } from "./web-server.ts";

type ClusterTls = NonNullable<AlertmanagerSpec["clusterTLS"]>;
type ClientTls = ClusterTls["client"];

/** Throws `ConfigurationRefused` when one of the two sides lacks its certificate. */
export function clusterTlsConfiguration({ server, client }: ClusterTls): string {
  checkServerTls(server, "spec.clusterTLS.server");
  if (client.cert === undefined || client.keySecret === undefined)
    throw new ConfigurationRefused("spec.clusterTLS.client", "expected both cert and keySecret");
  const section = serverTlsSection(asServer(client), `${clusterTlsFolder}/client_tls`);
  return stringify({
    tls_server_config: serverTlsSection(server, `${clusterTlsFolder}/server_tls`),
    tls_client_config: {
      ...field("key_file", section["key_file"]),
      ...field("cert_file", section["cert_file"]),
      ...field("ca_file", section["client_ca_file"]),
      ...field("server_name", given(client.serverName)),
      ...field("insecure_skip_verify", client.insecureSkipVerify),
    },
  });
}

export function clusterClientFiles(client: ClientTls | undefined, folder: string): MountedFiles {
  return serverTlsFiles(client === undefined ? undefined : asServer(client), folder, "cluster-tls-client");
}

/** The same three keys, by the names that a server has for them. */
function asServer({ cert, keySecret, ca }: ClientTls): ServerTls {
  return { cert, keySecret, client_ca: ca };
}
