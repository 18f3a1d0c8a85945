/**
 * The credentials of a connection and a request, and the user that an authenticator derives from them.
 */
import type { UserInfo } from "@setpoint/apimachinery";

/** The subject of a client certificate. */
export interface CertificateSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** SHA-256 of the certificate in lower-case hex, by which the audit log distinguishes credentials. */
  readonly fingerprint?: string;
}

/** What a request proves its user with: headers, and the client certificate of its connection. */
export interface Credentials {
  /** Lower-case names, as Node gives them. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Absent without a certificate, `"unknown"` for one that the client CA did not sign. */
  readonly certificate?: CertificateSubject | "unknown";
}

/**
 * The user behind credentials. Throws an ApiError: 401 for bad ones, 403 for an impersonation that is not
 * allowed.
 */
export type Authenticate = (credentials: Credentials) => UserInfo;
