/** The kind PostgresDatabase: a database in a PostgresCluster, its schemas and its extensions. */
import { age, conditions, defineKind, field, type ObjectOf, rule } from "setpoint";
import { conditionColumn } from "setpoint/kinds";
import { z } from "zod";
import { innerName } from "../kind/inner-names.ts";

const name63 = z.string().min(1).max(63);
const objectName = z.string().min(1).max(253);
const ensure = z
  .enum(["present", "absent"])
  .default("present")
  .describe("absent: it is dropped, unless something depends on it.");

const extension = z.object({
  name: name63,
  ensure,
  version: z
    .string()
    .min(1)
    .max(50)
    .optional()
    .describe("Its version; absent: the image's default when it is created, and never changed."),
  schema: name63.optional().describe("The schema of its objects; default: its own, or public."),
});

const schema = z.object({
  name: name63,
  ensure,
  owner: name63.optional().describe("Its owner; default: the owner of the database."),
});

const fixed = (what: string, options: object = {}) =>
  ({
    immutable: true,
    description: `${what} It counts when the database is created, and cannot change.`,
    ...options,
  }) as const;

const spec = z.object({
  cluster: field(objectName, { immutable: true, description: "The PostgresCluster, in the same namespace." }),
  database: field(z.string().max(63).regex(innerName).optional(), {
    immutable: true,
    description: "The database in PostgreSQL; default: the name of the PostgresDatabase.",
  }),
  owner: name63.describe("The role that owns it, such as that of a PostgresRole."),
  encoding: field(z.string().max(30).default("UTF8"), fixed("Its encoding.")),
  template: field(name63.default("template1"), fixed("The database that it is a copy of.")),
  locale: field(z.string().min(1).max(100).optional(), fixed("Its collation and character classes, such as C.UTF-8.")),
  connectionLimit: z.int().min(-1).max(262_143).default(-1).describe("How many sessions it may have; -1: no limit."),
  schemas: field(z.array(schema).max(50).default([]), {
    listType: "map",
    listMapKeys: ["name"],
    description: "Schemas that it has or does not have; others stay as they are.",
  }),
  extensions: field(z.array(extension).max(50).default([]), {
    listType: "map",
    listMapKeys: ["name"],
    description: "Extensions that it has or does not have; others stay as they are.",
  }),
  adopt: z
    .boolean()
    .default(false)
    .describe("Whether a database that exists already is taken over. Without it, such a database stays as it is."),
  drift: z
    .enum(["repair", "report"])
    .default("repair")
    .describe("What happens to changes by hand: they are reverted, or reported in the condition InSync."),
  reclaimPolicy: z
    .enum(["delete", "retain"])
    .default("retain")
    .describe("Whether the database is dropped when the PostgresDatabase is deleted."),
  endSessions: z
    .boolean()
    .default(false)
    .describe("Whether sessions are ended that hold the drop back. Without it, they are named and waited for."),
});

const status = z.object({
  observedGeneration: z.int().optional(),
  database: z.string().optional().describe("The database in PostgreSQL."),
  owner: z.string().optional(),
  extensions: z.record(z.string(), z.string()).optional().describe("The versions of the extensions of the spec."),
  drift: z.array(z.string()).optional().describe("What differs from the spec."),
  conditions: conditions().optional(),
});

/** The kind PostgresDatabase, `postgres.setpoint.dev/v1`. */
export const PostgresDatabase = defineKind({
  group: "postgres.setpoint.dev",
  version: "v1",
  kind: "PostgresDatabase",
  shortNames: ["pgdb"],
  categories: ["postgres"],
  spec: field(spec, {
    rules: [
      rule(
        "has(self.locale) == has(oldSelf.locale)",
        "the locale counts when the database is created, and cannot change",
        { fieldPath: ".locale" },
      ),
    ],
  }),
  status,
  printerColumns: {
    Cluster: "spec.cluster",
    Database: "status.database",
    Owner: "status.owner",
    Ready: conditionColumn("Ready"),
    Age: age(),
  },
});
export type PostgresDatabase = ObjectOf<typeof PostgresDatabase>;

/** The database in PostgreSQL. */
export function databaseNameOf({ metadata, spec: { database } }: PostgresDatabase): string {
  return database ?? metadata.name ?? "";
}
