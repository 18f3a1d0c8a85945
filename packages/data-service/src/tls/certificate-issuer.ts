/**
 * What makes and reads certificates. The real one uses node:crypto; a simulated world uses a fast,
 * deterministic one.
 */
import type { Clock, Random } from "@setpoint/host";

/** A certificate with its private key, both PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** The clock sets the validity of certificates; the randomness makes names and serial numbers. */
export interface IssuerPorts {
  readonly clock: Pick<Clock, "now">;
  readonly random: Random;
}

/** A new authority, with a name of its own: chains of two authorities can then never be mixed up. */
export interface AuthorityRequest {
  readonly commonName: string;
  readonly lifetimeMs: number;
}

/** What a certificate is for. All certificates can be used by servers and clients: members are both. */
export interface LeafRequest {
  readonly commonName: string;
  /** DNS names and IP addresses. */
  readonly hosts: readonly string[];
  readonly lifetimeMs: number;
}

/** What a certificate says. Nothing of it is secret. */
export interface CertificateFacts {
  /** A fingerprint, short enough for an annotation. */
  readonly id: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly hosts: readonly string[];
}

/** Makes and reads certificates. */
export interface CertificateIssuer {
  createAuthority(request: AuthorityRequest, ports: IssuerPorts): KeyPair;
  issue(authority: KeyPair, request: LeafRequest, ports: IssuerPorts): KeyPair;
  /** Errors: throws when the text is not a certificate. */
  describe(certificate: string): CertificateFacts;
  /** Whether the authority's key has signed the certificate. */
  isIssuedBy(certificate: string, authority: string): boolean;
}

/** The certificates of a bundle, one text each. */
export function splitBundle(bundle: string): readonly string[] {
  return bundle.match(/-----BEGIN[^]*?-----END CERTIFICATE-----\n?/g) ?? [];
}
