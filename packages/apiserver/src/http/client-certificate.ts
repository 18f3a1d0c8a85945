/** The subject of the client certificate of a TLS connection. */
import type { PeerCertificate } from "node:tls";
import type { CertificateSubject } from "../auth/credentials.ts";

/**
 * The part of a TLSSocket that tells who called; the socket of an HTTP/2 session is a proxy with the same
 * methods.
 */
export interface CertifiedSocket {
  readonly authorized?: boolean;
  getPeerCertificate?(detailed?: boolean): PeerCertificate;
}

export function clientCertificate(socket: CertifiedSocket): CertificateSubject | "unknown" | undefined {
  const peer = socket.getPeerCertificate?.();
  const subject: unknown = peer?.subject;
  if (typeof subject !== "object" || subject === null) return undefined;
  if (socket.authorized !== true) return "unknown";
  const { CN, O } = subject as Readonly<Record<string, string | string[] | undefined>>;
  const organizations = O === undefined ? [] : Array.isArray(O) ? O : [O];
  const fingerprint = peer?.fingerprint256.replaceAll(":", "").toLowerCase();
  const commonName = (Array.isArray(CN) ? CN[0] : CN) ?? "";
  return { commonName, organizations, ...(fingerprint === undefined ? {} : { fingerprint }) };
}
