/** Real certificates: ECDSA P-256 keys from node:crypto, signed by the host's certificate authority. */
import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { CertificateAuthority, createCertificateAuthority } from "@setpoint/host/certificates";
import type {
  AuthorityRequest,
  CertificateFacts,
  CertificateIssuer,
  IssuerPorts,
  KeyPair,
  LeafRequest,
} from "./certificate-issuer.ts";

const dayMs = 86_400_000;
/** Certificates are valid from this long ago: clocks of members and clients may be an hour behind. */
const backdateMs = 2 * 3_600_000;
const idLength = 16;

/** Issues X.509 certificates. */
export const x509Issuer: CertificateIssuer = { createAuthority, issue, describe, isIssuedBy };

function createAuthority({ commonName, lifetimeMs }: AuthorityRequest, { clock, random }: IssuerPorts): KeyPair {
  const options = { clock, random, commonName, validityDays: lifetimeMs / dayMs };
  const { certificate, key } = createCertificateAuthority(options);
  return { certificate, key };
}

function issue(authority: KeyPair, request: LeafRequest, ports: IssuerPorts): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { commonName, hosts, lifetimeMs } = request;
  const certificate = new CertificateAuthority(authority, ports).signRequest(
    {
      commonName,
      organizations: [],
      dnsNames: hosts.filter((host) => isIP(host) === 0),
      ipAddresses: hosts.filter((host) => isIP(host) !== 0),
      otherNames: [],
      publicKey,
    },
    { forClients: true, forServers: true, forEncipherment: false, validityMs: lifetimeMs, backdateMs },
  );
  return { certificate, key: privateKey.export({ type: "pkcs8", format: "pem" }) };
}

function describe(certificate: string): CertificateFacts {
  const { fingerprint256, validFrom, validTo, subjectAltName = "" } = new X509Certificate(certificate);
  return {
    id: fingerprint256.replaceAll(":", "").slice(0, idLength).toLowerCase(),
    notBeforeMs: Date.parse(validFrom),
    notAfterMs: Date.parse(validTo),
    hosts: subjectAltName
      .split(", ")
      .filter((name) => name !== "")
      .map((name) => name.replace(/^(DNS|IP Address):/, "")),
  };
}

function isIssuedBy(certificate: string, authority: string): boolean {
  const leaf = new X509Certificate(certificate);
  const issuer = new X509Certificate(authority);
  return leaf.checkIssued(issuer) && leaf.verify(issuer.publicKey);
}
