/** What the operator asks of the primary's manager about databases, as JSON over HTTPS. */
import type { Addressee, HeldBy, Holder } from "./inner-protocol.ts";

export interface WantedExtension {
  readonly name: string;
  /** False: it is dropped, when nothing depends on it. */
  readonly isPresent: boolean;
  /** Absent: the image's default at its creation, and whatever it has later. */
  readonly version?: string;
  readonly schema?: string;
}

export interface WantedSchema {
  readonly name: string;
  readonly isPresent: boolean;
  readonly owner: string;
}

/** A database as it should be. The fields of `creation` count when it is created. */
export interface DatabaseDefinition {
  readonly name: string;
  readonly owner: string;
  /** -1: no limit. */
  readonly connectionLimit: number;
  readonly creation: { readonly encoding: string; readonly template: string; readonly locale?: string };
  readonly schemas: readonly WantedSchema[];
  readonly extensions: readonly WantedExtension[];
}

export interface ExtensionFacts {
  /** Null: it is not in the database. */
  readonly version: string | null;
  readonly schema: string | null;
  /** Those that the image has. */
  readonly available: readonly string[];
  /** Whether the image leads from the present version to the wanted one. */
  readonly hasPath: boolean;
}

/** A database as it is. */
export interface DatabaseFacts {
  readonly holder: HeldBy | null;
  readonly owner: string;
  readonly connectionLimit: number;
  readonly encoding: string;
  readonly locale: string;
  readonly isTemplate: boolean;
  /** PostgreSQL was interrupted while it dropped the database. */
  readonly isInvalid: boolean;
  /** The owners of the schemas, by name. */
  readonly schemas: Readonly<Record<string, string>>;
  readonly extensions: Readonly<Record<string, ExtensionFacts>>;
}

export interface DatabaseQuestion {
  readonly asked: Addressee;
  readonly database: DatabaseDefinition;
}

export interface DatabaseAnswer {
  /** Null: there is none. */
  readonly database: DatabaseFacts | null;
  /** Owners that do not exist. */
  readonly missingRoles: readonly string[];
  readonly hasTemplate: boolean;
}

/** Makes the database what it should be; what is half done is found and continued. */
export interface DatabaseChange {
  readonly asked: Addressee;
  readonly holder: Holder;
  readonly database: DatabaseDefinition;
}

/** Drops the database when it belongs to the holder. */
export interface DatabaseRemoval {
  readonly asked: Addressee;
  readonly holder: Holder;
  readonly name: string;
  /** Whether its sessions are ended. Without it, they hold the removal back. */
  readonly endsSessions: boolean;
  /** Keep it, and forget that it belongs to the holder. */
  readonly isRelease: boolean;
}

/** POST: a DatabaseQuestion; the answer is a DatabaseAnswer. */
export const databaseQuestionPath = "/v1/databases/question";
/** PUT: a DatabaseChange. */
export const databasePath = "/v1/databases";
/** POST: a DatabaseRemoval; the answer is a RemovalAnswer. */
export const databaseRemovalPath = "/v1/databases/removal";
