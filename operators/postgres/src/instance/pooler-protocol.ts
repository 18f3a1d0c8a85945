/** What the operator and the manager of a pooler exchange, as JSON over HTTPS. */
import type { Addressee } from "./inner-protocol.ts";

/** The role that asks PostgreSQL for the verifiers of other roles; it logs in by its certificate. */
export const poolerRole = "setpoint_pooler";

export interface PoolerSettings {
  readonly poolMode: "session" | "transaction" | "statement";
  /** Settings of PgBouncer by name. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** What a pooler should be. One of an older term is refused. */
export interface DesiredPooler {
  readonly term: number;
  /** The host of the server, such as that of the primary in this term. */
  readonly host: string;
  readonly settings: PoolerSettings;
  /** Clients wait for so long at most, unless it is asked again; absent: they do not. */
  readonly pauseMs?: number;
}

export interface PoolerReport {
  /** The hash of the document that it carries out, without the pause. */
  readonly follows: string;
  readonly term: number;
  /** `pausing`: transactions that are open end first. */
  readonly pause: "no" | "pausing" | "yes";
  readonly isRunning: boolean;
  readonly version?: string | undefined;
  /** Clients whose statement waits, and those with a server. */
  readonly waiting?: number | undefined;
  readonly active?: number | undefined;
  readonly message?: string | undefined;
}

/** GET: a PoolerReport. PUT: a DesiredPooler; the answer is a PoolerReport. */
export const poolerPath = "/v1/pooler";

/** What the primary prepares for poolers. */
export interface PoolerLogin {
  readonly asked: Addressee;
}

/** PUT, to the primary's manager: a PoolerLogin. */
export const poolerLoginPath = "/v1/pooler-login";
