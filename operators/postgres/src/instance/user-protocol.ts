/** What the operator asks of the primary's manager about users of bindings, as JSON over HTTPS. */

/** `owner` acts as the owner of the database; the others reach the tables of its schema `public`. */
export type DatabaseAccess = "owner" | "readwrite" | "readonly";

export interface DatabaseRight {
  readonly database: string;
  readonly access: DatabaseAccess;
}

/** A user who should exist, with this password and exactly these rights. */
export interface WantedUser {
  readonly user: string;
  readonly password: string;
  readonly rights: readonly DatabaseRight[];
}

/** Proves that the user gets in. */
export interface Login {
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** A user who should be gone; what it owns goes to the heir, or to the owner of its database. */
export interface DroppedUser {
  readonly user: string;
  readonly heir?: string | undefined;
}

/** PUT: a WantedUser. */
export const userPath = "/v1/user";
/** POST: a Login. */
export const loginPath = "/v1/login";
/** POST: a DroppedUser. */
export const dropUserPath = "/v1/drop-user";
