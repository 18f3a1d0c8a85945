/** A PostgresDatabase, of a Database. */
import { innerName, reservedDatabases } from "../kind/inner-names.ts";
import type { Report } from "./difference.ts";
import { compareFields } from "./field-table.ts";
import type { Fields } from "./fields.ts";
import { clusterNameOf, type InputObject } from "./input-object.ts";
import { databaseTable } from "./other-tables.ts";
import { compareMetadata, madeOf, type OutputObject, postgresVersion, withoutUndefined } from "./output-object.ts";

export function adoptDatabase(input: InputObject, report: Report): readonly OutputObject[] {
  const { spec } = input;
  compareMetadata(input, report);
  compareFields(databaseTable, spec.value, "spec", report);
  const database = spec.requiredText("name");
  if (spec.text("ensure") === "absent") {
    const why = `the database "${database}" is not wanted, so nothing is written`;
    report.add("spec.ensure", "unneeded", why, "drop it if the moved data have it");
    return [];
  }
  if (!innerName.test(database) || reservedDatabases.includes(database)) {
    const why = `"${database}" is no name for a PostgresDatabase: expected lower case letters, digits, - and _, and none of PostgreSQL's`;
    report.add("spec.name", "dropped", why, "keep it by SQL");
    return [];
  }
  const written = {
    cluster: clusterNameOf(input),
    database,
    owner: spec.requiredText("owner"),
    encoding: spec.text("encoding"),
    template: spec.text("template"),
    locale: localeOf(spec, report),
    connectionLimit: spec.number("connectionLimit"),
    reclaimPolicy: spec.text("databaseReclaimPolicy"),
    schemas: partsOf(spec, "schemas", ["owner", "ensure"]),
    extensions: partsOf(spec, "extensions", ["version", "schema", "ensure"]),
    // The data that are moved bring it along.
    adopt: true,
  };
  return [madeOf(input, { apiVersion: postgresVersion, kind: "PostgresDatabase" }, written)];
}

function localeOf(spec: Fields, report: Report): string | undefined {
  const locale = spec.text("locale");
  for (const field of ["localeCollate", "localeCType"]) {
    const value = spec.text(field);
    if (value === undefined || value === locale) continue;
    const written = locale ?? spec.text("localeCollate") ?? spec.text("localeCType") ?? "";
    if (value === written) continue;
    const why = `a PostgresDatabase has one locale for both; "${written}" is written, not "${value}"`;
    report.add(spec.at(field), "changed", why);
  }
  return locale ?? spec.text("localeCollate") ?? spec.text("localeCType");
}

function partsOf(
  spec: Fields,
  list: "schemas" | "extensions",
  optional: readonly string[],
): readonly object[] | undefined {
  const parts = spec.list(list).map((part) => ({
    name: part.requiredText("name"),
    ...withoutUndefined(Object.fromEntries(optional.map((field) => [field, part.text(field)]))),
  }));
  return parts.length === 0 ? undefined : parts;
}
