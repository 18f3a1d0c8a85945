/** What the first start of a cluster takes its data from, when it does not begin empty. */
import { z } from "zod";

const databasesMax = 50;
const rolesMax = 500;
/** PostgreSQL's own limit, in bytes; names of servers that others set up may have any characters. */
const name = z.string().min(1).max(63);

const keyOf = (keyDefault: string): z.ZodObject<{ name: z.ZodString; key: z.ZodDefault<z.ZodString> }> =>
  z.object({ name: z.string().min(1).max(253), key: z.string().min(1).max(253).default(keyDefault) });

const source = z
  .object({
    host: z.string().regex(/^\S+$/).max(253).describe("The name or the address of the server."),
    port: z.int().min(1).max(65_535).default(5_432),
    user: name.describe("A user who may read everything that is imported; its roles with passwords need a superuser."),
    database: name.default("postgres").describe("The database to connect to first."),
    sslMode: z
      .enum(["disable", "prefer", "require", "verify-ca", "verify-full"])
      .default("require")
      .describe("As the sslmode of libpq."),
    password: keyOf("password").describe("The Secret with the password of the user, and its key."),
    ca: keyOf("ca.crt").optional().describe("The Secret with the certificates that verify-ca and verify-full trust."),
  })
  .describe("A server that runs, of the same or an older major version.");

export const bootstrap = z
  .object({
    import: z
      .object({
        from: source,
        type: z
          .enum(["microservice", "monolith"])
          .default("monolith")
          .describe(
            "monolith: databases and roles as they are. microservice: the contents of one database become spec.database, and all of it belongs to its owner.",
          ),
        databases: z
          .array(name)
          .min(1)
          .max(databasesMax)
          .default(["*"])
          .describe("Which databases; * stands for all but postgres and templates."),
        roles: z
          .array(name)
          .max(rolesMax)
          .default(["*"])
          .describe("Which roles of a monolith; * stands for all. None becomes a superuser."),
        rolePasswords: z
          .boolean()
          .default(true)
          .describe("Whether roles keep their passwords, which only a superuser of the server can read."),
      })
      .describe("By pg_dump and pg_restore, before the first client can connect."),
  })
  .describe("What the first start takes its data from; later it has no meaning.");
