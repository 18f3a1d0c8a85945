/** The kind EtcdMirror: the keys of one etcd are copied to an EtcdCluster, and its changes follow. */
import { externalInstance } from "@setpoint/data-service";
import { age, conditions, defineKind, field, type ObjectOf, rule } from "setpoint";
import { exactlyOneOf } from "setpoint/kinds";
import { z } from "zod";

const clusterName = z.string().min(1).max(52);
const prefix = z.string().max(500);

const spec = z.object({
  source: field(
    z.object({
      cluster: clusterName.optional().describe("An EtcdCluster in the same namespace."),
      external: externalInstance.optional().describe("An etcd that no operator runs."),
    }),
    { description: "Where the keys come from.", rules: [exactlyOneOf("cluster", "external")] },
  ),
  cluster: clusterName.describe("The EtcdCluster in the same namespace that the keys are copied to."),
  prefix: prefix.default("").describe("Only keys that begin with it are copied; all keys when it is empty."),
  destinationPrefix: prefix
    .optional()
    .describe(
      "What copied keys begin with in place of `prefix`; the same when absent. Keys with it are the mirror's own.",
    ),
  existingKeys: z
    .enum(["Refuse", "Replace"])
    .default("Refuse")
    .describe(
      "What happens to keys with `destinationPrefix` that are there before the first copy. Refuse: nothing is copied. Replace: they become equal to the source, and those that it does not have are deleted.",
    ),
});

const status = z.object({
  observedGeneration: z.int().optional(),
  phase: z.string().optional().describe("Following, or the reason why the condition Ready is not True."),
  revision: z
    .int()
    .optional()
    .describe("All changes of the source up to this revision are copied; 0 while the first copy is not complete."),
  sourceRevision: z.int().optional().describe("The newest revision that the source has reported."),
  lagRevisions: z
    .int()
    .optional()
    .describe("By how many revisions the source is ahead; with a prefix these may be changes of other keys."),
  copies: z.int().optional().describe("How many complete copies were made: the first, and those after lost history."),
  keys: z.int().optional().describe("The keys that the last complete copy has found."),
  reportedAt: z
    .string()
    .optional()
    .describe(
      "When the mirror first reported these values. It repeats them at least once a minute, which writes no status.",
    ),
  conditions: conditions().optional(),
});

/** The kind EtcdMirror, `etcd.setpoint.dev/v1`. */
export const EtcdMirror = defineKind({
  group: "etcd.setpoint.dev",
  version: "v1",
  kind: "EtcdMirror",
  categories: ["data"],
  spec,
  status,
  printerColumns: {
    Cluster: "spec.cluster",
    Revision: "status.revision",
    Lag: "status.lagRevisions",
    Phase: "status.phase",
    Age: age(),
  },
  rules: [
    rule("size(self.metadata.name) <= 200", "the name may have at most 200 characters, because pods' names add to it"),
    rule(
      "!has(self.spec.source.cluster) || self.spec.source.cluster != self.spec.cluster",
      "a cluster cannot be mirrored into itself",
    ),
    rule(
      "self.spec.cluster == oldSelf.spec.cluster && self.spec.prefix == oldSelf.spec.prefix && has(self.spec.destinationPrefix) == has(oldSelf.spec.destinationPrefix) && (!has(self.spec.destinationPrefix) || self.spec.destinationPrefix == oldSelf.spec.destinationPrefix)",
      "immutable, because the keys that were copied would stay: create another EtcdMirror instead",
    ),
  ],
});
export type EtcdMirror = ObjectOf<typeof EtcdMirror>;
