/** Checks requests about databases. */
import type {
  DatabaseChange,
  DatabaseDefinition,
  DatabaseQuestion,
  DatabaseRemoval,
  WantedExtension,
  WantedSchema,
} from "../../instance/database-protocol.ts";
import { type Fields, flagIn, integerIn, listIn, objectIn, objectOf, textIn } from "./parse-fields.ts";
import { addresseeIn, holderIn } from "./parse-roles.ts";

export function parseDatabaseQuestion(value: unknown): DatabaseQuestion {
  const fields = objectOf(value, "the question");
  return { asked: addresseeIn(fields), database: databaseIn(fields) };
}

export function parseDatabaseChange(value: unknown): DatabaseChange {
  const fields = objectOf(value, "the change");
  return { asked: addresseeIn(fields), holder: holderIn(fields), database: databaseIn(fields) };
}

export function parseDatabaseRemoval(value: unknown): DatabaseRemoval {
  const fields = objectOf(value, "the removal");
  return {
    asked: addresseeIn(fields),
    holder: holderIn(fields),
    name: textIn(fields, "name"),
    endsSessions: flagIn(fields, "endsSessions"),
    isRelease: flagIn(fields, "isRelease"),
  };
}

function databaseIn(fields: Fields): DatabaseDefinition {
  const database = objectIn(fields, "database");
  const creation = objectIn(database, "creation");
  return {
    name: textIn(database, "name"),
    owner: textIn(database, "owner"),
    connectionLimit: integerIn(database, "connectionLimit", -1),
    creation: {
      encoding: textIn(creation, "encoding"),
      template: textIn(creation, "template"),
      ...optional(creation, "locale"),
    },
    schemas: listIn(database, "schemas").map((each) => schemaOf(objectOf(each, "schemas"))),
    extensions: listIn(database, "extensions").map((each) => extensionOf(objectOf(each, "extensions"))),
  };
}

function schemaOf(fields: Fields): WantedSchema {
  return { name: textIn(fields, "name"), isPresent: flagIn(fields, "isPresent"), owner: textIn(fields, "owner") };
}

function extensionOf(fields: Fields): WantedExtension {
  return {
    name: textIn(fields, "name"),
    isPresent: flagIn(fields, "isPresent"),
    ...optional(fields, "version"),
    ...optional(fields, "schema"),
  };
}

function optional<Name extends string>(fields: Fields, name: Name): { readonly [Key in Name]?: string } {
  if (fields[name] === undefined) return {};
  return { [name]: textIn(fields, name) } as { readonly [Key in Name]?: string };
}
