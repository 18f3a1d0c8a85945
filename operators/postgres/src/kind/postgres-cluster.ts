/** The kind PostgresCluster: what a user asks for, and what the operator reports. */
import {
  archiveReportSchema,
  fencingSpec,
  fencingStatus,
  maintenanceWindows,
  plannedSteps,
} from "@setpoint/data-service";
import { age, conditions, defineKind, field, rule, type ObjectOf } from "setpoint";
import { quantity } from "setpoint/kinds";
import { z } from "zod";
import { bootstrap } from "./bootstrap.ts";
import { labels } from "./labels.ts";
import { parameterRules } from "./parameters.ts";
import { upgradeSpec, upgradeStatus } from "./upgrade.ts";
import { versionRules } from "./version-rules.ts";

const stringMap = z.record(z.string(), z.string());
/** PostgreSQL truncates longer identifiers. */
const identifier = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/);
/** Names that PostgreSQL or the operator has. */
const reservedNames = `["postgres", "streaming_replica", "setpoint_pooler", "setpoint_monitor", "template0", "template1"]`;
const notReserved = (fieldName: "name" | "owner"): string => {
  const value = `self.spec.database.${fieldName}`;
  return `!has(self.spec.database) || !has(${value}) || !(${value} in ${reservedNames} || ${value}.startsWith("pg_"))`;
};
/** Bounds what the rules about the maps may cost. */
const parametersMax = 100;

const storage = z
  .object({
    size: quantity().describe("The size of each volume, such as 8Gi. It may grow and never shrink."),
    storageClassName: z.string().optional().describe("The class of storage; the cluster's default when absent."),
  })
  .describe("The volume that each instance gets.");

const synchronous = z
  .object({
    number: z
      .int()
      .min(1)
      .max(8)
      .default(1)
      .describe("How many replicas must have a commit before it is acknowledged."),
    durability: z
      .enum(["required", "preferred"])
      .default("required")
      .describe(
        "required: commits wait while too few replicas follow. preferred: then as many replicas count as there are, down to none.",
      ),
  })
  .describe("Synchronous replication. Without it a failover may lose the last commits; the status says how much.");

const failover = z
  .object({
    silenceSeconds: z
      .int()
      .min(2)
      .max(3600)
      .default(4)
      .describe(
        "How long a primary whose pod runs may be silent before another instance takes its place; four times as long in its first minute.",
      ),
    maximumLag: quantity()
      .default("16Mi")
      .describe("A replica that lacks more than this of the primary's last known position is not promoted."),
  })
  .describe("When another instance takes the place of the primary.");

const spec = z.object({
  instances: z
    .int()
    .min(1)
    .max(9)
    .default(3)
    .describe("How many instances there are: one primary, and replicas that follow it."),
  version: z
    .enum(["15", "17"])
    .default("17")
    .describe(
      "The major version of PostgreSQL. A newer one upgrades the data by pg_upgrade, after a check; status.upgrade tells how far it is and how to go back.",
    ),
  image: z
    .string()
    .regex(/^\S+$/)
    .max(300)
    .optional()
    .describe("The image of PostgreSQL; docker.io/library/postgres with the version as its tag when absent."),
  storage,
  resources: z
    .object({ requests: stringMap.optional(), limits: stringMap.optional() })
    .optional()
    .describe("CPU and memory of each instance."),
  parameters: field(stringMap.meta({ maxProperties: parametersMax }).optional(), {
    description:
      "Settings of PostgreSQL by name. Those that the operator sets itself are refused by name; a value that PostgreSQL would not start with is refused in the condition Accepted, and the settings from before stay.",
    rules: parameterRules,
  }),
  accessRules: z
    .array(
      z
        .string()
        .max(300)
        .regex(/^(host|hostssl|hostnossl)\s[^\r\n]*$/),
    )
    .max(50)
    .optional()
    .describe("Lines of pg_hba.conf, before the operator's last one, which asks every user for a password over TLS."),
  primaryUpdate: z
    .enum(["switchover", "restart"])
    .default("switchover")
    .describe(
      "How settings that need a restart reach the primary, after the replicas: a replica takes over, or its server restarts in place.",
    ),
  maintenanceWindows: maintenanceWindows.optional(),
  synchronous: synchronous.optional(),
  failover: failover.optional(),
  archive: z
    .object({ store: z.string().min(1).max(253).describe("The BackupStore, in the same namespace.") })
    .optional()
    .describe("Archives the log beside the backups, so that each moment since the first one can be restored."),
  database: z
    .object({
      name: identifier.default("app").describe("The database that the first start creates."),
      owner: identifier.default("app").describe("The role that owns it; the Secret NAME-app has its login."),
    })
    .optional()
    .describe("The application's database."),
  bootstrap: bootstrap.optional(),
  upgrade: upgradeSpec.optional(),
  fencing: fencingSpec.optional(),
  hibernated: z
    .boolean()
    .default(false)
    .describe("Whether all instances stop, the primary last, and keep their volumes, until this is false again."),
  dryRun: z
    .boolean()
    .default(false)
    .describe("Whether changes of the spec are only planned: the status lists the steps, and repairs go on."),
  paused: z.boolean().default(false).describe("Whether the operator leaves the cluster as it is."),
});

const instance = z.object({
  name: z.string(),
  role: z.enum(["Primary", "Replica", "Unknown"]),
  ready: z.boolean(),
  timeline: z.int().optional(),
  version: z.string().optional().describe("The version of PostgreSQL that it runs."),
  pendingRestart: z.array(z.string()).optional().describe("Settings that wait for a restart of its server."),
  message: z.string().optional().describe("What it does or waits for."),
});

const status = z.object({
  phase: z.enum([
    "Creating",
    "Running",
    "FailingOver",
    "SwitchingOver",
    "Updating",
    "Upgrading",
    "Scaling",
    "Restoring",
    "Degraded",
    "Fenced",
    "Hibernating",
    "Hibernated",
    "Paused",
    "Failed",
  ]),
  observedGeneration: z.int().optional(),
  specInForce: z.string().optional().describe("The last spec that was no dry run, as JSON; a dry run goes on with it."),
  plannedSteps: plannedSteps.describe("With `dryRun`: the steps that the change would take, in their order."),
  systemID: z.string().optional().describe("PostgreSQL's own identifier of the data, from the first start."),
  primary: z
    .string()
    .optional()
    .describe("The instance that may accept writes; absent while none may, between two primaries."),
  formerPrimary: z.string().optional().describe("The instance whose place is being taken."),
  term: z
    .int()
    .optional()
    .describe("Grows with each change of the primary. An instance follows no older term than it has seen."),
  candidate: z.string().optional().describe("The instance that should take over, when it has received everything."),
  pausing: z
    .object({ for: z.string(), since: z.string() })
    .optional()
    .describe("The term of the next primary for which poolers hold their clients back, before a switchover."),
  handover: z.enum(["failover", "switchover"]).optional().describe("Why there is no primary at the moment."),
  voters: z
    .array(z.string())
    .optional()
    .describe("The instances of the last document that the primary followed: their majority confirms it."),
  lastServing: z
    .string()
    .optional()
    .describe(
      "The instance that accepted writes last, as far as the operator saw: one that dies before it does is not.",
    ),
  lastPosition: z.string().optional().describe("The last known position of the instance that accepted writes last."),
  lastTimeline: z
    .int()
    .optional()
    .describe("The newest timeline that a primary has begun, or may have begun. A replica without it waits for it."),
  lastFailover: z
    .object({
      from: z.string(),
      to: z.string(),
      at: z.string(),
      reason: z.string(),
      lostAtMost: z
        .string()
        .optional()
        .describe(
          "What the new primary may lack of the old one: bytes of the log, and with asynchronous replication the commits after the old one's last report. Absent: nothing that was acknowledged.",
        ),
    })
    .optional(),
  lastSwitchover: z.object({ from: z.string(), to: z.string(), at: z.string(), request: z.string() }).optional(),
  instances: z.int().describe("How many instances there are."),
  readyInstances: z.int(),
  restored: z.string().optional().describe("The restore whose data it runs on; absent when it has its own."),
  previousData: z
    .object({ restored: z.string().optional(), primary: z.string().optional(), systemID: z.string().optional() })
    .optional()
    .describe("What it ran on before the restore in place, whose volumes are kept for a while."),
  archive: archiveReportSchema.optional().describe("What can be restored from the archive."),
  fencing: fencingStatus.optional(),
  hibernation: z
    .object({
      state: z.enum(["Hibernating", "Hibernated", "Waking"]),
      since: z.string().describe("When it came into this state."),
    })
    .optional()
    .describe("Present while the cluster hibernates, and until its primary accepts writes again."),
  stoppedFor: z.string().optional().describe("The restore that all instances have stopped for."),
  dataVersion: z.enum(["15", "17"]).optional().describe("The major version of the data; spec.version may be ahead."),
  dataImage: z.string().optional().describe("The spec.image that goes with the data."),
  upgrade: upgradeStatus.optional(),
  currentVersion: z.string().optional().describe("The version that the primary runs."),
  writeService: z.string(),
  readService: z.string(),
  members: z.array(instance),
  certificatesEnd: z.string().optional().describe("When the first certificate ends; it is renewed long before."),
  waitingFor: z
    .object({ what: z.string(), since: z.string(), nextTry: z.string().optional() })
    .optional()
    .describe("What the operator waits for, and since when."),
  selector: z.string(),
  conditions: conditions(),
});

/** The kind PostgresCluster, `postgres.setpoint.dev/v1`: its schema, rules, columns and scale subresource. */
export const PostgresCluster = defineKind({
  group: "postgres.setpoint.dev",
  version: "v1",
  kind: "PostgresCluster",
  shortNames: ["pg"],
  categories: ["all"],
  spec,
  status,
  scale: { specReplicas: "instances", statusReplicas: "instances", selector: "selector" },
  printerColumns: {
    Instances: "spec.instances",
    Ready: "status.readyInstances",
    Primary: "status.primary",
    Phase: "status.phase",
    Version: "status.currentVersion",
    Waiting: { path: "status.waitingFor.what", priority: 1 },
    Age: age(),
  },
  rules: [
    rule(
      "size(self.metadata.name) <= 50",
      "the name may have at most 50 characters, because instances' names add to it",
    ),
    ...versionRules,
    rule(
      "!has(self.spec.image) || !self.spec.image.matches(':(9|1[0-9])([.-][^/:@]*)?(@[^/]*)?$') || self.spec.image.matches(':' + self.spec.version + '([.-][^/:@]*)?(@[^/]*)?$')",
      "the image must have the major version of spec.version; another major version cannot read the data",
      { fieldPath: ".spec.image" },
    ),
    rule(
      "quantity(self.spec.storage.size).compareTo(quantity(oldSelf.spec.storage.size)) >= 0",
      "volumes may grow and never shrink",
      { fieldPath: ".spec.storage.size" },
    ),
    rule(
      "has(self.spec.storage.storageClassName) == has(oldSelf.spec.storage.storageClassName) && (!has(self.spec.storage.storageClassName) || self.spec.storage.storageClassName == oldSelf.spec.storage.storageClassName)",
      "the class of volumes cannot change: they keep theirs",
      { fieldPath: ".spec.storage.storageClassName" },
    ),
    rule(
      "has(self.spec.database) == has(oldSelf.spec.database) && (!has(self.spec.database) || self.spec.database == oldSelf.spec.database)",
      "the first start creates this database and its owner; create others with SQL",
      { fieldPath: ".spec.database" },
    ),
    rule(
      "!has(self.spec.bootstrap) || !has(oldSelf.status) || !has(oldSelf.status.systemID) || (has(oldSelf.spec.bootstrap) && self.spec.bootstrap == oldSelf.spec.bootstrap)",
      "the cluster has its data: import or copy into a new PostgresCluster, or remove spec.bootstrap",
      { fieldPath: ".spec.bootstrap" },
    ),
    rule(
      notReserved("name"),
      "postgres, template0, template1, streaming_replica, setpoint_… and pg_… are reserved names",
      {
        fieldPath: ".spec.database.name",
      },
    ),
    rule(
      notReserved("owner"),
      "postgres, template0, template1, streaming_replica, setpoint_… and pg_… are reserved names",
      {
        fieldPath: ".spec.database.owner",
      },
    ),
    rule(
      "!has(self.spec.synchronous) || !has(self.spec.synchronous.number) || self.spec.synchronous.number < self.spec.instances",
      "fewer replicas than instances can be synchronous, because one instance is the primary",
      { fieldPath: ".spec.synchronous.number" },
    ),
  ],
});
export type PostgresCluster = ObjectOf<typeof PostgresCluster>;

/** The annotation asks for it by name. */
export function requestedPrimary({ metadata }: PostgresCluster): string | undefined {
  return metadata.annotations?.[labels.switchover];
}
