/** A certificate, a key or a request for one cannot be used. */
export class CertificateError extends Error {
  override readonly name = "CertificateError";
  readonly code = "ERR_CERTIFICATE_AUTHORITY";
}
