/** The kind PostgresPooler: PgBouncer before a PostgresCluster. */
import { age, conditions, defineKind, field, type ObjectOf, rule } from "setpoint";
import { conditionColumn } from "setpoint/kinds";
import { z } from "zod";

const stringMap = z.record(z.string(), z.string());

const spec = z.object({
  cluster: field(z.string().min(1).max(50), {
    immutable: true,
    description: "The PostgresCluster, in the same namespace.",
  }),
  instances: z.int().min(1).max(9).default(2).describe("How many pods there are."),
  target: z
    .enum(["primary", "replicas"])
    .default("primary")
    .describe("primary: reads and writes. replicas: reads, by the Service CLUSTER-ro."),
  poolMode: z
    .enum(["session", "transaction", "statement"])
    .default("transaction")
    .describe("When a server is free for another client. A switchover waits for open transactions, not for sessions."),
  parameters: field(stringMap.meta({ maxProperties: 50 }).default({}), {
    description: "Settings of PgBouncer by name. Those that are not in the list of the page are refused by name.",
  }),
  image: z
    .string()
    .regex(/^\S+$/)
    .max(300)
    .optional()
    .describe("An image with PgBouncer 1.21 or later and a user 998; default: that of CloudNativePG."),
  resources: z
    .object({ requests: stringMap.optional(), limits: stringMap.optional() })
    .optional()
    .describe("CPU and memory of each pod."),
});

const status = z.object({
  observedGeneration: z.int().optional(),
  instances: z.int(),
  readyInstances: z.int(),
  service: z.string().describe("The Service for clients."),
  host: z.string().optional().describe("The server that the pods connect to."),
  pausedFor: z
    .string()
    .optional()
    .describe("The change of the primary for which all pods hold their clients back, with no transaction open."),
  selector: z.string(),
  conditions: conditions().optional(),
});

/** The kind PostgresPooler, `postgres.setpoint.dev/v1`. */
export const PostgresPooler = defineKind({
  group: "postgres.setpoint.dev",
  version: "v1",
  kind: "PostgresPooler",
  shortNames: ["pgpooler"],
  categories: ["postgres"],
  spec,
  status,
  scale: { specReplicas: "instances", statusReplicas: "instances", selector: "selector" },
  printerColumns: {
    Cluster: "spec.cluster",
    Mode: "spec.poolMode",
    Instances: "spec.instances",
    Ready: "status.readyInstances",
    Healthy: conditionColumn("Ready"),
    Age: age(),
  },
  rules: [
    rule("size(self.metadata.name) <= 50", "the name may have at most 50 characters, because others add to it"),
    rule(
      "self.metadata.name != self.spec.cluster && !self.metadata.name.matches('^.*-(rw|ro|r)$')",
      "the name is that of the Service: use another one than the cluster's, without -rw, -ro or -r at its end",
    ),
  ],
});
export type PostgresPooler = ObjectOf<typeof PostgresPooler>;
