/** How to reach one API server and as whom: what the HTTP transport and exec share. */
import type { ConnectionOptions } from "node:tls";
import type { Clock } from "@setpoint/host";
import { lazyModules } from "./lazy-modules.ts";

/** The user, groups and extra fields that the impersonation headers carry. */
export interface Impersonation {
  readonly user: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** A client's proof of who it is. */
export interface ClientCredential {
  /** PEM. */
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
}

/** How to reach an API server: address, TLS trust and credentials. */
export interface HttpConnection {
  /** `https://host:port`, with an optional path prefix; `http://` for a local proxy. */
  readonly server: string;
  readonly clock: Clock;
  /** PEM of the authorities to trust; absent: the system's. */
  readonly ca?: string;
  /** In place of `ca`: a file that is read at each connection (mounted authorities rotate). */
  readonly caFile?: string;
  /** The name to expect in the server's certificate, when it is not the host of `server`. */
  readonly serverName?: string;
  readonly insecureSkipTlsVerify?: boolean;
  /** `http://[user:password@]host:port` of a proxy through which an `https` server is reached. */
  readonly proxy?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
  /** A file that is read again as it changes (mounted tokens rotate). */
  readonly tokenFile?: string;
  /**
   * Asked before each request (exec plugins), so it keeps what it has for as long as that is good; `refresh`:
   * the server has not taken it. Wins over the fields above.
   */
  readonly credential?: (refresh: boolean) => Promise<ClientCredential>;
  readonly impersonate?: Impersonation;
  readonly userAgent?: string;
}

/** Kubelets write new tokens well before the old ones end, so a minute of delay is harmless. */
const tokenFileReadMs = 60_000;

/** Reads the token of a connection, from its file again once a minute. */
export class TokenSource {
  readonly #connection: HttpConnection;
  #token: string | undefined;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(connection: HttpConnection) {
    this.#connection = connection;
    this.#token = connection.token;
  }

  /** The token to send now, if any. */
  current(): string | undefined {
    const { tokenFile, clock } = this.#connection;
    if (tokenFile === undefined || clock.monotonic() - this.#readAt < tokenFileReadMs) return this.#token;
    this.#token = lazyModules.fs().readFileSync(tokenFile, "utf8").trim();
    this.#readAt = clock.monotonic();
    return this.#token;
  }

  /** Reads the file again at the next request: the server did not accept what it said. */
  expire(): void {
    this.#readAt = Number.NEGATIVE_INFINITY;
  }
}

/** Headers that stay the same for every request of a connection. */
export function fixedHeaders(connection: HttpConnection): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { "user-agent": connection.userAgent ?? "setpoint" };
  const { impersonate } = connection;
  if (impersonate === undefined) return headers;
  headers["impersonate-user"] = impersonate.user;
  if (impersonate.groups !== undefined) headers["impersonate-group"] = [...impersonate.groups];
  if (impersonate.uid !== undefined) headers["impersonate-uid"] = impersonate.uid;
  for (const [key, values] of Object.entries(impersonate.extra ?? {})) {
    headers[`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`] = [...values];
  }
  return headers;
}

export function tlsOptions(connection: HttpConnection, credential: ClientCredential): ConnectionOptions {
  const { caFile, serverName, insecureSkipTlsVerify } = connection;
  const ca = caFile === undefined ? connection.ca : lazyModules.fs().readFileSync(caFile, "utf8");
  const { cert, key } = { ...connection, ...credential };
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(insecureSkipTlsVerify === true ? { rejectUnauthorized: false } : {}),
  };
}
