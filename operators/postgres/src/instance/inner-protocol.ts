/**
 * What the operator asks of the primary's manager about roles and databases, as JSON over HTTPS. Each request
 * names who is asked, so that an instance that has been the primary before does nothing.
 */

/** The primary in its term. A manager of another name or term refuses with status 409. */
export interface Addressee {
  readonly primary: string;
  readonly term: number;
}

/** The object of Kubernetes that something in the database belongs to. */
export interface Holder {
  readonly uid: string;
  /** The generation of its spec; an older one than was seen is refused. */
  readonly revision: number;
  /** Whether something that exists and belongs to no object, or to another one, is taken over. */
  readonly adopts: boolean;
}

/** What is recorded in the database `postgres` about something that belongs to an object. */
export interface HeldBy {
  readonly uid: string;
  readonly revision: number;
}

export interface RoleAttributes {
  readonly login: boolean;
  readonly createDatabase: boolean;
  readonly createRole: boolean;
  readonly inherit: boolean;
  /** -1: no limit. */
  readonly connectionLimit: number;
  /** RFC 3339 in UTC with whole seconds; null: for ever. */
  readonly validUntil: string | null;
}

/** A role as it should be. */
export interface RoleDefinition {
  readonly name: string;
  readonly attributes: RoleAttributes;
  /** All roles that it is a member of. */
  readonly memberOf: readonly string[];
  /** What PostgreSQL stores of the password. Null: none; absent: whatever it has. */
  readonly verifier?: string | null;
  /** The role that its sessions begin as. */
  readonly actsAs?: string;
  /** Whether sessions end that are there when it loses its login. */
  readonly endsSessions?: boolean;
}

/** A role as it is. */
export interface RoleFacts {
  readonly holder: HeldBy | null;
  readonly isSuperuser: boolean;
  readonly attributes: RoleAttributes;
  readonly memberOf: readonly string[];
  /** Compared with the verifier of the question. */
  readonly password: "none" | "same" | "other";
  readonly actsAs: string | null;
}

export interface RoleQuestion {
  readonly asked: Addressee;
  readonly roles: readonly RoleDefinition[];
}

export interface RoleAnswer {
  /** By name; null: there is none. */
  readonly roles: Readonly<Record<string, RoleFacts | null>>;
  /** Roles that the question names as groups and that do not exist. */
  readonly missingGroups: readonly string[];
  /** Those of the groups whose members are superusers in effect. */
  readonly superuserGroups: readonly string[];
}

/** Makes the roles what they should be, all of them or none. */
export interface RoleChange {
  readonly asked: Addressee;
  readonly holder: Holder;
  readonly roles: readonly RoleDefinition[];
}

/** Drops the roles that belong to the holder. What they own goes to the heir. */
export interface RoleRemoval {
  readonly asked: Addressee;
  readonly holder: Holder;
  readonly names: readonly string[];
  readonly heir?: string;
  /** Keep them, and forget that they belong to the holder. */
  readonly isRelease: boolean;
}

/** Why something could not be dropped yet; empty: it is gone. */
export interface RemovalAnswer {
  readonly heldBack: readonly string[];
}

/** POST: a RoleQuestion; the answer is a RoleAnswer. */
export const roleQuestionPath = "/v1/roles/question";
/** PUT: a RoleChange. */
export const rolePath = "/v1/roles";
/** POST: a RoleRemoval; the answer is a RemovalAnswer. */
export const roleRemovalPath = "/v1/roles/removal";
