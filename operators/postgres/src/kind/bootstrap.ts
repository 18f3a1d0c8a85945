/** What the first start of a cluster takes its data from, when it does not begin empty. */
import { field, rule } from "setpoint";
import { z } from "zod";
import { postgresName, queriedServer, replicatedServer, serverRules } from "./other-server.ts";

const databasesMax = 50;
const rolesMax = 500;

const importOfData = z
  .object({
    from: field(queriedServer, { rules: [serverRules.trust] }),
    type: z
      .enum(["microservice", "monolith"])
      .default("monolith")
      .describe(
        "monolith: databases and roles as they are. microservice: the contents of one database become spec.database, and all of it belongs to its owner.",
      ),
    databases: z
      .array(postgresName)
      .min(1)
      .max(databasesMax)
      .default(["*"])
      .describe("Which databases; * stands for all but postgres and templates."),
    roles: z
      .array(postgresName)
      .max(rolesMax)
      .default(["*"])
      .describe("Which roles of a monolith; * stands for all. None becomes a superuser."),
    rolePasswords: z
      .boolean()
      .default(true)
      .describe("Whether roles keep their passwords, which only a superuser of the server can read."),
  })
  .describe("By pg_dump and pg_restore, before the first client can connect.");

const baseBackup = z
  .object({ from: field(replicatedServer, { rules: [serverRules.trust, serverRules.login] }) })
  .describe(
    "By pg_basebackup: all files of a server of the same major version. They go on as a cluster of their own, on a new timeline.",
  );

const microserviceRule = rule(
  "self.type != 'microservice' || (size(self.databases) == 1 && self.databases[0] != '*')",
  "a microservice is the contents of one database: name it, or use type monolith",
  { fieldPath: ".databases" },
);

export const bootstrap = field(
  z.object({
    import: field(importOfData, { rules: [microserviceRule] }).optional(),
    baseBackup: baseBackup.optional(),
  }),
  {
    description: "What the first start takes its data from; later it has no meaning.",
    rules: [rule("has(self.import) != has(self.baseBackup)", "expected one of import and baseBackup")],
  },
);
