/**
 * Serves aggregated APIs: requests for the group and version of an APIService go to the Service that it
 * names. Extension servers know the API server by the authority in the ConfigMap
 * `extension-apiserver-authentication`.
 */
import { ConfigMap } from "@setpoint/api";
import type { Transport } from "@setpoint/apimachinery";
import type { ApiServer } from "@setpoint/apiserver";
import {
  type ConnectToPod,
  createExtensionProxy,
  extensionAt,
  type ExtensionCatalog,
  keepExtensions,
  serviceEndpoints,
} from "@setpoint/apiserver/http";
import { createClient } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import { type CertificateAuthority, createCertificateAuthority } from "@setpoint/host/certificates";

export interface ExtensionServersOptions {
  readonly server: ApiServer;
  readonly catalog: ExtensionCatalog;
  readonly host: Host;
  /** As cluster-admin. */
  readonly transport: Transport;
  /** The authority of client certificates, which extension servers also accept. */
  readonly authority: CertificateAuthority;
  readonly connectToPod?: ConnectToPod;
}

const frontProxy = "front-proxy-client";

/** Resolves when extension servers can learn whom to trust; disposing it ends the checks of them. */
export async function serveExtensions(options: ExtensionServersOptions): Promise<AsyncDisposable> {
  const { server, catalog, host, transport, authority, connectToPod } = options;
  // An authority of its own: a certificate of the cluster's authority must not make anybody the front proxy.
  const trusted = createCertificateAuthority(host);
  const { certificate: cert, key } = trusted.issueClient({ commonName: frontProxy, organizations: [] });
  const { reader, registry } = server;
  const resolveService = serviceEndpoints(reader);
  const forward = createExtensionProxy({
    resolveService,
    cert,
    key,
    ...(connectToPod === undefined ? {} : { connectToPod }),
  });
  server.forward = (request, user, signal) => {
    const extension = extensionAt(request.path, reader);
    if (extension === undefined || registry.hasGroupVersion(extension.group, extension.version)) return undefined;
    return forward(extension, request, user, signal);
  };
  await announce(transport, host, { clients: authority.certificate, frontProxy: trusted.certificate });
  return keepExtensions({ host, reader, forward, catalog, transport });
}

async function announce(
  transport: Transport,
  host: Host,
  authorities: { readonly clients: string; readonly frontProxy: string },
): Promise<void> {
  const configMap = ConfigMap({
    name: "extension-apiserver-authentication",
    namespace: "kube-system",
    data: {
      "client-ca-file": authorities.clients,
      "requestheader-client-ca-file": authorities.frontProxy,
      "requestheader-allowed-names": JSON.stringify([frontProxy]),
      "requestheader-username-headers": JSON.stringify(["X-Remote-User"]),
      "requestheader-uid-headers": JSON.stringify(["X-Remote-Uid"]),
      "requestheader-group-headers": JSON.stringify(["X-Remote-Group"]),
      "requestheader-extra-headers-prefix": JSON.stringify(["X-Remote-Extra-"]),
    },
  });
  await createClient(transport, host).apply(ConfigMap, configMap, { fieldManager: "kube-apiserver", force: true });
}
