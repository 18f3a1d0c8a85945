/** The database that should be in PostgreSQL, and what of the spec cannot be; pure. */
import type { Stored } from "setpoint";
import { innerName, reservedDatabases } from "../kind/inner-names.ts";
import type { RefusedField } from "../inner/refused-field.ts";
import type { DatabaseDefinition } from "../instance/database-protocol.ts";
import type { PostgresCluster } from "../kind/postgres-cluster.ts";
import { databaseNameOf, type PostgresDatabase } from "./postgres-database.ts";

const nameMax = 63;

export function wantedDatabase(object: PostgresDatabase): DatabaseDefinition {
  const { owner, connectionLimit, encoding, template, locale, schemas, extensions } = object.spec;
  return {
    name: databaseNameOf(object),
    owner,
    connectionLimit,
    creation: { encoding, template, ...(locale === undefined ? {} : { locale }) },
    schemas: schemas.map((each) => ({
      name: each.name,
      isPresent: each.ensure === "present",
      owner: each.owner ?? owner,
    })),
    extensions: extensions.map(({ name, ensure, version, schema }) => ({
      name,
      isPresent: ensure === "present",
      ...(version === undefined ? {} : { version }),
      ...(schema === undefined ? {} : { schema }),
    })),
  };
}

export function databaseRefusals(
  object: PostgresDatabase,
  cluster: Stored<PostgresCluster> | undefined,
  rival: string | undefined,
): readonly RefusedField[] {
  const name = databaseNameOf(object);
  const refuse = (why: string): readonly RefusedField[] => [{ field: "spec.database", why }];
  if (!innerName.test(name) || name.length > nameMax)
    return refuse(
      `"${name}" is no name for a database: use at most ${nameMax} letters in lower case, digits, - and _, and begin with a letter or _`,
    );
  if (reservedDatabases.includes(name))
    return refuse(`"${name}" belongs to PostgreSQL or to a pooler; use another name`);
  if (cluster !== undefined && name === (cluster.spec.database?.name ?? "app"))
    return refuse(`"${name}" is the cluster's own database, which spec.database of the PostgresCluster creates`);
  if (rival !== undefined)
    return refuse(`PostgresDatabase "${rival}" is older and has the database "${name}" already; delete one of them`);
  return schemaRefusals(object);
}

function schemaRefusals({ spec }: PostgresDatabase): readonly RefusedField[] {
  return spec.schemas
    .filter(({ name }) => name.startsWith("pg_") || name === "information_schema")
    .map(({ name }) => ({ field: "spec.schemas", why: `"${name}" belongs to PostgreSQL; remove it` }));
}
