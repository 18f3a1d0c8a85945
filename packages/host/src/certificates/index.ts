/** Certificates, issued on the spot: for a control plane, for webhooks, for the members of a database. */
export type {
  CertificateAuthorityOptions,
  ClientCertificateRequest,
  KeyPair,
  ServerCertificateRequest,
} from "./certificate-authority.ts";
export { CertificateAuthority, CertificateError, createCertificateAuthority } from "./certificate-authority.ts";
