/**
 * Certificates of a simulated world: plain text in place of cryptography, so that a seed decides all of it.
 */
import type { CertificateFacts, CertificateIssuer, IssuerPorts, KeyPair } from "./certificate-issuer.ts";

interface Content extends CertificateFacts {
  readonly issuer: string;
}

/** Issues texts that say who issued them, to whom, and until when. */
export const simulatedIssuer: CertificateIssuer = {
  createAuthority: ({ lifetimeMs }, ports) => make(undefined, [], lifetimeMs, ports),
  issue: (authority, { hosts, lifetimeMs }, ports) => make(contentOf(authority.certificate), hosts, lifetimeMs, ports),
  describe(certificate) {
    const { id, notBeforeMs, notAfterMs, hosts } = contentOf(certificate);
    return { id, notBeforeMs, notAfterMs, hosts };
  },
  isIssuedBy: (certificate, authority) => contentOf(certificate).issuer === contentOf(authority).id,
};

function make(
  issuer: Content | undefined,
  hosts: readonly string[],
  lifetimeMs: number,
  { clock, random }: IssuerPorts,
): KeyPair {
  const id = random.uuid().replaceAll("-", "").slice(0, 16);
  const notBeforeMs = clock.now();
  const notAfterMs = Math.min(notBeforeMs + lifetimeMs, issuer?.notAfterMs ?? Number.POSITIVE_INFINITY);
  const content: Content = { id, issuer: issuer?.id ?? id, notBeforeMs, notAfterMs, hosts };
  return { certificate: wrapped("CERTIFICATE", JSON.stringify(content)), key: wrapped("PRIVATE KEY", `key of ${id}`) };
}

function wrapped(label: string, text: string): string {
  return `-----BEGIN ${label}-----\n${text}\n-----END ${label}-----\n`;
}

function contentOf(certificate: string): Content {
  return JSON.parse(certificate.split("\n")[1] ?? "") as Content;
}
