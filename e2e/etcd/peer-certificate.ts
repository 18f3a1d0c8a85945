/** The certificate that a TLS server presents. */
import { once } from "node:events";
import { connect } from "node:tls";
import type { SecureEndpoint } from "../../examples/etcd/tour/etcd-client.ts";

/** The fingerprint of the certificate that a new connection gets. */
export async function peerCertificate({ url, serverName, ca, certificate, key }: SecureEndpoint): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), servername: serverName, ca, cert: certificate, key });
  try {
    await once(socket, "secureConnect");
    return socket.getPeerCertificate().fingerprint256;
  } finally {
    socket.destroy();
  }
}
