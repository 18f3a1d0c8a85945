/** The kind PostgresRole: a role in a PostgresCluster, its password and its memberships. */
import { age, conditions, defineKind, field, type ObjectOf, rule } from "setpoint";
import { conditionColumn, duration, timestamp } from "setpoint/kinds";
import { z } from "zod";
import { innerName } from "../kind/inner-names.ts";

/** `_a` and `_b` are added for alternating logins; PostgreSQL truncates names of more than 63. */
const roleName = z.string().max(61).regex(innerName);
const objectName = z.string().min(1).max(253);

const rotation = z
  .object({
    request: z.string().max(63).optional().describe("Any other text than before makes a new password now."),
    every: duration().max(20).optional().describe("How old a password becomes before the next one replaces it."),
    overlap: duration()
      .max(20)
      .default("1h")
      .describe("How long the login before still works. It counts for alternating logins only."),
  })
  .describe("When the operator replaces a password that it has made.");

const password = z
  .object({
    source: z
      .enum(["generated", "given"])
      .default("generated")
      .describe(
        "generated: the operator makes the password and the Secret. given: it reads the Secret, which needs the label postgres.setpoint.dev/role-password=true, and follows its changes.",
      ),
    secretName: objectName.optional().describe("The Secret; default: the name of the PostgresRole."),
    logins: z
      .enum(["one", "alternating"])
      .default("one")
      .describe(
        "one: the role itself logs in, and a new password replaces the old one at once; open sessions stay. alternating: two roles, NAME_a and NAME_b, log in by turns as members of this one, so that the old login works until its overlap ends.",
      ),
    rotation: rotation.default({ overlap: "1h" }),
  })
  .describe("The password. Without it the role has none, and one that was set by hand is removed.");

const spec = z.object({
  cluster: field(objectName, { immutable: true, description: "The PostgresCluster, in the same namespace." }),
  role: field(roleName.optional(), {
    immutable: true,
    description: "The role in PostgreSQL; default: the name of the PostgresRole.",
  }),
  login: z.boolean().default(true).describe("Whether it may log in."),
  createDatabase: z.boolean().default(false).describe("Whether it may create databases."),
  createRole: z
    .boolean()
    .default(false)
    .describe("Whether it may create roles; refused for PostgreSQL 15, where such a role can make itself a superuser."),
  inherit: z.boolean().default(true).describe("Whether it has the rights of the roles that it is a member of."),
  superuser: field(z.boolean().optional(), {
    rules: [
      rule(
        "self == false",
        "a superuser reads and writes the files of the server and could stop failover and backups; grant the rights that are needed, or a role such as pg_monitor by memberOf",
      ),
    ],
    description: "Must be false: nobody reaches the server as a superuser but over the socket of its pod.",
  }),
  connectionLimit: z.int().min(-1).max(262_143).default(-1).describe("How many sessions it may have; -1: no limit."),
  validUntil: timestamp().optional().describe("When its password ends."),
  memberOf: z
    .array(z.string().min(1).max(63))
    .max(50)
    .default([])
    .describe("All roles that it is a member of; other memberships are withdrawn."),
  password: password.optional(),
  adopt: z
    .boolean()
    .default(false)
    .describe("Whether a role that exists already is taken over. Without it, such a role stays as it is."),
  drift: z
    .enum(["repair", "report"])
    .default("repair")
    .describe("What happens to changes by hand: they are reverted, or reported in the condition InSync."),
  reclaimPolicy: z
    .enum(["delete", "retain"])
    .default("retain")
    .describe("Whether the role is dropped when the PostgresRole is deleted."),
  reassignOwnedTo: z
    .string()
    .min(1)
    .max(63)
    .optional()
    .describe("The role that gets what this one owns before it is dropped. Without it, what it owns holds that back."),
});

const status = z.object({
  observedGeneration: z.int().optional(),
  role: z.string().optional().describe("The role in PostgreSQL."),
  secretName: z.string().optional().describe("The Secret with the login."),
  login: z.string().optional().describe("The user in the Secret."),
  passwordSince: z.string().optional().describe("Since when the Secret has the present password."),
  retiring: z
    .object({ user: z.string(), until: z.string() })
    .optional()
    .describe("The login before, which still works."),
  drift: z.array(z.string()).optional().describe("What differs from the spec."),
  conditions: conditions().optional(),
});

/** The kind PostgresRole, `postgres.setpoint.dev/v1`. */
export const PostgresRole = defineKind({
  group: "postgres.setpoint.dev",
  version: "v1",
  kind: "PostgresRole",
  shortNames: ["pgrole"],
  categories: ["postgres"],
  spec: field(spec, {
    rules: [
      rule(
        "!has(self.password) || !has(oldSelf.password) || self.password.logins == oldSelf.password.logins",
        "one login cannot become two, or two one, while clients use them: create another PostgresRole",
        { fieldPath: ".password.logins" },
      ),
      rule(
        "!has(self.password) || self.password.source != 'given' || self.password.logins == 'one'",
        "a given Secret has one login; alternating logins need source: generated",
        { fieldPath: ".password.logins" },
      ),
    ],
  }),
  status,
  printerColumns: {
    Cluster: "spec.cluster",
    Role: "status.role",
    Ready: conditionColumn("Ready"),
    Login: { path: "status.login", priority: 1 },
    Age: age(),
  },
});
export type PostgresRole = ObjectOf<typeof PostgresRole>;

/** The role in PostgreSQL. */
export function roleNameOf({ metadata, spec: { role } }: PostgresRole): string {
  return role ?? metadata.name ?? "";
}
