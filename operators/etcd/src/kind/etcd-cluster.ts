/** The kind EtcdCluster: what a user asks for, and what the operator reports. */
import { dataLabels, fencingSpec, fencingStatus, maintenanceWindows, plannedSteps } from "@setpoint/data-service";
import { age, defineKind, field, rule, type ObjectOf } from "setpoint";
import { duration, quantity } from "setpoint/kinds";
import { z } from "zod";
import { allowedOptions, allowedVariables } from "./allowed-options.ts";
import { defragmentationStatus, maintenanceSpec } from "./maintenance.ts";
import { healingSpec, slowDisksStatus } from "./healing.ts";
import { planSpec, planStatus } from "./etcd-plans.ts";
import { tuningSpec, tuningStatus } from "./tuning.ts";
import { latestRevision, quorumRecoverySpec, quorumRecoveryStatus } from "./quorum-recovery.ts";

const stringMap = z.record(z.string(), z.string());
const anything = z.record(z.string(), z.unknown());

const storage = z
  .object({
    storageClassName: z.string().optional().describe("The class of storage; the cluster's default when absent."),
    accessModes: z
      .array(z.enum(["ReadWriteOnce", "ReadWriteOncePod", "ReadWriteMany"]))
      .default(["ReadWriteOnce"])
      .describe("How nodes may mount the volume."),
    resources: z
      .object({
        requests: z
          .object({
            storage: quantity().describe("The size of each volume, such as 8Gi. It may grow and never shrink."),
          })
          .describe("What each claim asks for."),
      })
      .describe("The resources of each claim."),
  })
  .describe("The claim that each member gets. Without it and without a plan a member's data live as long as its pod.");

/** Bounds what the rule about options may cost. */
const optionsMax = 40;

/** Where etcd's own images come from. */
export const defaultRepository = "quay.io/coreos/etcd";

const pod = z
  .object({
    labels: stringMap.optional().describe("Labels of each pod, of app.kubernetes.io and prometheus.io."),
    annotations: stringMap.optional().describe("Annotations of each pod, of app.kubernetes.io and prometheus.io."),
    resources: z
      .object({
        requests: stringMap.optional().describe("What each member is guaranteed, such as cpu: 500m."),
        limits: stringMap.optional().describe("What each member may use at most, such as memory: 2Gi."),
      })
      .optional()
      .describe("CPU and memory of each member."),
    nodeSelector: stringMap.optional().describe("Labels that the nodes of members must have."),
    affinity: anything.optional().describe("The affinity of each pod, within the namespace."),
    tolerations: z.array(anything).optional().describe("The tolerations of each pod, except of reserved nodes."),
    env: z
      .array(
        z.object({
          name: z.enum(allowedVariables).describe("The name of the variable."),
          value: z.string().describe("The value of the variable."),
        }),
      )
      .optional()
      .describe("Variables of Go's runtime."),
  })
  .describe("What the pods of members have besides what the operator decides.");

/** The server bounds what a rule about versions may cost by this. */
const versionLengthMax = 20;

const tls = z
  .object({
    mode: z
      .enum(["Enabled", "Disabled"])
      .optional()
      .describe(
        "Whether peers and clients use TLS with certificates on both sides. New clusters do unless this says no.",
      ),
    authoritySecret: z
      .string()
      .max(253)
      .optional()
      .describe(
        `A Secret with tls.crt and tls.key of an authority that signs all certificates, and maybe ca.crt. It needs the label ${dataLabels.certificateAuthority}=true, and cannot be one that the operator made.`,
      ),
    certificateLifetime: duration().optional().describe("How long a certificate is valid; 2160h when absent."),
    authorityLifetime: duration()
      .optional()
      .describe("How long the operator's own authority signs; 8760h when absent."),
  })
  .describe("Certificates of members and clients. Whether a cluster has TLS is decided at its first start.");

const auth = z
  .object({
    enabled: z
      .boolean()
      .default(false)
      .describe("Whether clients need a login, which ServiceBindings give them. It cannot be turned off again."),
  })
  .describe("Users of etcd. The Secret NAME-root has the login of root, which the operator uses.");

const spec = z.object({
  size: z
    .literal([1, 3, 5, 7])
    .default(3)
    .describe("How many members the cluster has. It is changed one member at a time, without losing the quorum."),
  version: field(
    z
      .string()
      .regex(/^[0-9]+\.[0-9]+\.[0-9]+$/)
      .max(versionLengthMax),
    {
      description: "The version of etcd. Members are upgraded one at a time, the leader last; there is no way back.",
      rules: [rule("self.matches('^3[.][456][.]')", "supported versions are 3.4.x, 3.5.x and 3.6.x")],
    },
  ),
  maintenanceWindows: maintenanceWindows.optional(),
  hibernated: z
    .boolean()
    .default(false)
    .describe("Whether all members stop and keep their volumes, until this is false again."),
  dryRun: z
    .boolean()
    .default(false)
    .describe("Whether changes of the spec are only planned: the status lists the steps, and repairs go on."),
  paused: z.boolean().default(false).describe("Whether the operator leaves the cluster as it is."),
  imageRepository: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]*(:[0-9]+)?(\/[a-z0-9][a-z0-9._-]*)*$/)
    .max(200)
    .default(defaultRepository)
    .describe(
      "Where etcd's images come from, one of the repositories that the operator may use; the tag is the version with a v before it.",
    ),
  plan: planSpec,
  volumeClaimTemplate: storage.optional(),
  deletionPolicy: z
    .enum(["Delete", "Retain"])
    .default("Delete")
    .describe("What becomes of the volumes when the EtcdCluster is deleted."),
  quorumRecovery: quorumRecoverySpec,
  fencing: fencingSpec.optional(),
  maintenance: maintenanceSpec,
  healing: healingSpec,
  tuning: tuningSpec,
  pod: pod.optional(),
  tls: tls.optional(),
  auth: auth.optional(),
  options: field(stringMap.meta({ maxProperties: optionsMax }).optional(), {
    description: `Options of etcd that tune a member, as name and value, without the leading dashes: ${allowedOptions.join(", ")}.`,
    rules: [
      rule(
        `self.all(name, name in [${allowedOptions.map((name) => `'${name}'`).join(", ")}])`,
        "only options that tune a member can be set; `kubectl explain etcdcluster.spec.options` lists them",
      ),
    ],
  }),
});

const member = z.object({
  name: z.string(),
  id: z.string().optional(),
  version: z.string().optional(),
  role: z
    .enum(["Leader", "Follower", "Learner", "Unknown"])
    .describe("A learner gets all data and does not vote. Unknown: the member does not answer."),
  healthy: z.boolean(),
  unhealthySince: z.string().optional().describe("When the member was first seen unhealthy."),
});

const status = z.object({
  phase: z.enum([
    "Creating",
    "Running",
    "Paused",
    "Scaling",
    "Upgrading",
    "Recovering",
    "Failed",
    "Hibernating",
    "Hibernated",
    "Fenced",
  ]),
  observedGeneration: z.int().optional(),
  clusterID: z.string().optional(),
  initialMembers: z
    .array(z.string())
    .optional()
    .describe(
      "The members of the first start, written before the first pod is made: a restarted operator goes on with them.",
    ),
  size: z.int().describe("How many members there are."),
  readyMembers: z.int().describe("How many of them answer and know a leader."),
  leader: z.string().optional(),
  currentVersion: z.string().max(versionLengthMax).optional().describe("The lowest version that a member runs."),
  targetVersion: z.string().optional().describe("The version that members are brought to."),
  plan: planStatus.optional(),
  tls: z
    .object({
      certificatesEnd: z.string().optional().describe("When the first certificate ends; it is renewed long before."),
      authorityEnds: z.string().optional(),
      clientSecret: z.string().describe("The Secret with ca.crt, tls.crt and tls.key for clients."),
    })
    .optional()
    .describe("Present when the cluster uses TLS."),
  auth: z
    .object({ rootSecret: z.string().describe("The Secret with the login of root.") })
    .optional()
    .describe("Present when etcd asks for logins, and accepts that of the operator."),
  serviceName: z.string().describe("The Service that clients connect to."),
  selector: z.string(),
  members: z.array(member),
  lostMembers: z
    .array(z.string())
    .optional()
    .describe("Members that were lost and are no longer members, until their replacements vote."),
  latestRevision: latestRevision.optional(),
  quorumRecovery: quorumRecoveryStatus.optional(),
  defragmentation: defragmentationStatus.optional(),
  slowDisks: slowDisksStatus.optional(),
  fencing: fencingStatus.optional(),
  tuning: tuningStatus.optional(),
  lastRequestedDefragmentation: z.string().optional().describe("The latest request that has begun."),
  lastScheduledDefragmentation: z.string().optional().describe("The next run of the schedule counts from here."),
  stoppedFor: z.string().optional().describe("The restore for which all members have stopped."),
  restore: z
    .object({
      id: z.string(),
      back: z.boolean().optional().describe("The data from before have returned."),
      previous: z.object({
        clusterID: z.string().optional(),
        initialMembers: z.array(z.string()).optional(),
        members: z.array(z.object({ name: z.string(), id: z.string().optional() })),
      }),
    })
    .optional()
    .describe("The restore whose data the members have, and what the cluster was before it."),
  restarting: z.string().optional().describe("The member that restarts to get changes of plan, pod and options."),
  plannedSteps: plannedSteps.describe("With `dryRun`: the steps that the change would take, in their order."),
  waitingFor: z
    .object({
      what: z.string(),
      since: z.string(),
      nextTry: z.string().optional(),
      rule: z.string().optional().describe("The rule of the operator's plan that waits."),
    })
    .optional()
    .describe("What the operator waits for, since when, and when it looks again."),
  lastChecked: z
    .string()
    .optional()
    .describe(
      "When the operator last checked and something here had changed. At rest it writes nothing; that it is at work its Lease shows.",
    ),
  conditions: z.array(anything).optional(),
});

/**
 * Rules look at versions only when the wanted one changes: what members report later must never block the
 * status.
 */
const keepsVersion =
  "self.spec.version == oldSelf.spec.version || !self.spec.version.matches('^3[.][0-9]+[.][0-9]+$') || !has(self.status) || !has(self.status.currentVersion)";
const part = (version: string, index: number): string => `int(${version}.split('.')[${index}])`;
const wanted = "self.spec.version";
const running = "self.status.currentVersion";

const template = "self.spec.volumeClaimTemplate";
const oldTemplate = "oldSelf.spec.volumeClaimTemplate";
const hasVolumes = (self: string): string => `(has(${self}.spec.volumeClaimTemplate) || has(${self}.spec.plan))`;
const sameVolumes = [
  `${template}.accessModes == ${oldTemplate}.accessModes`,
  `has(${template}.storageClassName) == has(${oldTemplate}.storageClassName)`,
  `(!has(${template}.storageClassName) || ${template}.storageClassName == ${oldTemplate}.storageClassName)`,
  `quantity(${template}.resources.requests.storage).compareTo(quantity(${oldTemplate}.resources.requests.storage)) >= 0`,
].join(" && ");

/** The kind EtcdCluster, `etcd.setpoint.dev/v1`: its schema, rules, columns and scale subresource. */
export const EtcdCluster = defineKind({
  group: "etcd.setpoint.dev",
  version: "v1",
  kind: "EtcdCluster",
  shortNames: ["etcd"],
  categories: ["all"],
  spec,
  status,
  scale: { specReplicas: "size", statusReplicas: "size", selector: "selector" },
  printerColumns: {
    Size: "spec.size",
    Ready: "status.readyMembers",
    Version: "status.currentVersion",
    Phase: "status.phase",
    Plan: { path: "status.plan.name", priority: 1 },
    Waiting: { path: "status.waitingFor.what", priority: 1 },
    Age: age(),
  },
  rules: [
    rule("size(self.metadata.name) <= 52", "the name may have at most 52 characters, because members' names add to it"),
    rule(
      `${hasVolumes("self")} == ${hasVolumes("oldSelf")}`,
      "members keep the volumes that they were made with: a cluster with volumes needs a plan or volumeClaimTemplate, and one without volumes cannot get either",
      { fieldPath: ".spec.volumeClaimTemplate" },
    ),
    rule(
      `!has(${template}) || !has(${oldTemplate}) || (${sameVolumes})`,
      "members keep the volumes that they were made with: only the storage of volumeClaimTemplate may change, and only grow",
      { fieldPath: ".spec.volumeClaimTemplate" },
    ),
    rule(
      "!has(self.status) || !has(self.status.initialMembers) || !has(self.spec.tls) || !has(self.spec.tls.mode) || (has(oldSelf.spec.tls) && has(oldSelf.spec.tls.mode) && oldSelf.spec.tls.mode == self.spec.tls.mode) || (self.spec.tls.mode == 'Enabled') == has(self.status.tls)",
      "a running cluster cannot change between plain and TLS: members of both kinds cannot talk to each other; restore a backup into a new cluster",
      { fieldPath: ".spec.tls" },
    ),
    rule(
      "!has(oldSelf.spec.auth) || !oldSelf.spec.auth.enabled || (has(self.spec.auth) && self.spec.auth.enabled)",
      "authentication cannot be turned off: every client would get all data",
      { fieldPath: ".spec.auth" },
    ),
    rule(
      `${keepsVersion} || ${part(wanted, 1)} > ${part(running, 1)} || (${part(wanted, 1)} == ${part(running, 1)} && ${part(wanted, 2)} >= ${part(running, 2)})`,
      "members run a newer version, and etcd cannot be downgraded",
      { fieldPath: ".spec.version" },
    ),
    rule(
      `${keepsVersion} || ${part(wanted, 1)} <= ${part(running, 1)} + 1`,
      "an upgrade may not jump over a minor version",
      { fieldPath: ".spec.version" },
    ),
  ],
});
export type EtcdCluster = ObjectOf<typeof EtcdCluster>;
