/** Certificates, issued on the spot: for a control plane, for webhooks, for the members of a database. */
export type {
  CertificateAuthorityOptions,
  ClientCertificateRequest,
  KeyPair,
  ServerCertificateRequest,
  SigningTerms,
} from "./certificate-authority.ts";
export { CertificateAuthority, createCertificateAuthority } from "./certificate-authority.ts";
export { CertificateError } from "./certificate-error.ts";
export type { CertificateRequest } from "./certificate-request.ts";
export { parseCertificateRequest } from "./certificate-request.ts";
