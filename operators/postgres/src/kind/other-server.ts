/** What the spec says of a server that is no instance of the cluster, and of which it takes data. */
import { rule } from "setpoint";
import { z } from "zod";
import type { OtherServer } from "../instance/instance-protocol.ts";

/** PostgreSQL's own limit, in bytes; names of servers that others set up may have any characters. */
export const postgresName = z.string().min(1).max(63);

const secretName = z.string().min(1).max(253);
const keyOf = (keyDefault: string): z.ZodObject<{ name: z.ZodString; key: z.ZodDefault<z.ZodString> }> =>
  z.object({ name: secretName, key: z.string().min(1).max(253).default(keyDefault) });

const address = {
  host: z.string().regex(/^\S+$/).max(253).describe("The name or the address of the server."),
  port: z.int().min(1).max(65_535).default(5_432),
};
const sslMode = z
  .enum(["disable", "prefer", "require", "verify-ca", "verify-full"])
  .default("require")
  .describe("As the sslmode of libpq.");
const password = keyOf("password").describe("The Secret with the password of the user, and its key.");
const ca = keyOf("ca.crt")
  .optional()
  .describe("The Secret with the certificates that verify-ca and verify-full trust.");

/** Whose databases are read by queries. */
export const queriedServer = z
  .object({
    ...address,
    user: postgresName.describe(
      "A user who may read everything that is imported; its roles with passwords need a superuser.",
    ),
    database: postgresName.default("postgres").describe("The database to connect to first."),
    sslMode,
    password,
    ca,
  })
  .describe("A server that runs, of the same or an older major version.");

/** Whose files or log are read, as a replica reads them. */
export const replicatedServer = z
  .object({
    ...address,
    user: postgresName
      .default("streaming_replica")
      .describe("A user with the attribute REPLICATION; streaming_replica is that of every PostgresCluster."),
    sslMode,
    password: password.optional(),
    certificate: z
      .object({ name: secretName })
      .optional()
      .describe(
        "The Secret with the certificate of the user, tls.crt and tls.key: of a PostgresCluster, NAME-replication-tls.",
      ),
    ca,
  })
  .describe("A server that runs, of the same major version.");

/** What the schema of such a server cannot say. */
export const serverRules = {
  trust: rule(
    "!(self.sslMode in ['verify-ca', 'verify-full']) || has(self.ca)",
    "verify-ca and verify-full need the field ca, the certificates to trust",
    { fieldPath: ".sslMode" },
  ),
  login: rule("has(self.password) || has(self.certificate)", "expected password, certificate, or both"),
} as const;

/** What the spec says of one. */
export type Described = z.output<typeof queriedServer> | z.output<typeof replicatedServer>;

/** Without the Secrets: the manager has them as files. */
export function addressOf(described: Described): OtherServer {
  const { host, port, user, sslMode: mode } = described;
  return { host, port, user, database: "database" in described ? described.database : "postgres", sslMode: mode };
}
