/** What is explored of Kubernetes' own controllers. Only tests import this. */
import {
  ConfigMap,
  CronJob,
  DaemonSet,
  Deployment,
  Endpoints,
  HorizontalPodAutoscaler,
  Job,
  Namespace,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  ReplicationController,
  Service,
  StatefulSet,
} from "@setpoint/api";
import { isNotFound } from "@setpoint/apimachinery";
import { certificatesAreIssued, certificateWorlds, simulatedAuthority } from "./certificate-worlds.fixture.ts";
import { quotaWorlds } from "./quota-worlds.fixture.ts";
import type { KindRef } from "@setpoint/client";
import {
  certificateSigner,
  claimBinder,
  claimProtection,
  cronJobs,
  daemonSets,
  deployments,
  endpointMirroring,
  endpoints,
  horizontalPodAutoscalers,
  jobOrphans,
  jobs,
  leftoverEndpoints,
  namespaces,
  podDisruptionBudgets,
  replicaSets,
  replicationControllers,
  resourceQuotas,
  scheduler,
  serviceAccounts,
  statefulSets,
  taintEvictions,
  volumePhases,
} from "@setpoint/controllers";
import {
  allOracles,
  happens,
  type LawOptions,
  patch,
  remove,
  type Setting,
  story,
  type StoryInit,
  type World,
} from "./index.ts";
import { defineOperator, type Operator } from "setpoint";

const labels = { app: "web" };
const web = Deployment({
  name: "web",
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } },
  },
});
const template = (image: string) => ({ metadata: { labels }, spec: { containers: [{ name: "web", image }] } });
const manual = { storageClassName: "manual", accessModes: ["ReadWriteOnce" as const] };
const front = Service({ name: "web", spec: { selector: labels, ports: [{ port: 80 }] } });

export const worlds: readonly StoryInit[] = [
  story(
    "objects that own each other are deleted in the foreground",
    ConfigMap({ name: "chicken" }),
    ConfigMap({ name: "egg" }),
    happens("each owns the other", async (world) => {
      await own(world, "chicken", "egg");
      await own(world, "egg", "chicken");
    }),
    happens("delete both in the foreground", async (world) => {
      for (const name of ["chicken", "egg"])
        await world.wait(
          world.client
            .delete(ConfigMap, { name, namespace: "default" }, { propagationPolicy: "Foreground" })
            .catch(unlessGone),
        );
    }),
  ),
  story(
    "a Deployment behind a Service",
    front,
    web,
    patch(Deployment, "web", { spec: { replicas: 1 } }),
    patch(Deployment, "web", {
      spec: { paused: false, template: { spec: { containers: [{ name: "web", image: "web:2" }] } } },
    }),
    remove(Deployment, "web"),
  ),
  story(
    "a PodDisruptionBudget of a Deployment",
    PodDisruptionBudget({ name: "web", spec: { maxUnavailable: "50%", selector: { matchLabels: labels } } }),
    web,
    patch(Deployment, "web", { spec: { replicas: 1 } }),
    remove(Deployment, "web"),
    remove(PodDisruptionBudget, "web"),
  ),
  story(
    "a Job is suspended, goes on, and is deleted",
    Job({
      name: "work",
      spec: {
        parallelism: 2,
        completions: 4,
        template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "work:1" }] } },
      },
    }),
    // A fault may delete the Job before.
    happens("suspend the Job", (world) =>
      world.patch(Job, "work", { spec: { suspend: true } }).then(nothing, unlessGone),
    ),
    happens("resume the Job with one pod at once", (world) =>
      world.patch(Job, "work", { spec: { suspend: false, parallelism: 1 } }).then(nothing, unlessGone),
    ),
    happens("delete the Job and its pods", (world) => removeWithPods(world, Job, "work")),
  ),
  story(
    "a CronJob makes a Job, is suspended, and is deleted",
    CronJob({
      name: "night",
      spec: {
        schedule: "* * * * *",
        concurrencyPolicy: "Forbid",
        // Suspended: pods of a Job that a client deletes without a policy stay, as upstream's.
        jobTemplate: {
          spec: {
            suspend: true,
            template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "work:1" }] } },
          },
        },
      },
    }),
    happens("a minute begins", (world) =>
      world.until("a Job is there", async () => (await world.list(Job)).length === 1, { within: 600_000 }),
    ),
    patch(CronJob, "night", { spec: { suspend: true } }),
    remove(CronJob, "night"),
  ),
  story(
    "a DaemonSet is updated and deleted",
    DaemonSet({ name: "agent", spec: { selector: { matchLabels: labels }, template: template("web:1") } }),
    patch(DaemonSet, "agent", { spec: { template: template("web:2") } }),
    remove(DaemonSet, "agent"),
  ),
  story(
    "a StatefulSet is scaled, updated and deleted",
    StatefulSet({
      name: "db",
      spec: { replicas: 2, serviceName: "db", selector: { matchLabels: labels }, template: template("web:1") },
    }),
    patch(StatefulSet, "db", { spec: { replicas: 1, template: template("web:2") } }),
    remove(StatefulSet, "db"),
  ),
  story(
    "a ReplicationController is scaled and deleted",
    ReplicationController({ name: "old", spec: { replicas: 2, selector: labels, template: template("web:1") } }),
    patch(ReplicationController, "old", { spec: { replicas: 1 } }),
    happens("delete the ReplicationController and its pods", (world) =>
      removeWithPods(world, ReplicationController, "old"),
    ),
    // One whose label was edited by hand is the ReplicationController's no more.
    happens("delete the pods that are left", (world) =>
      world.wait(world.client.deleteCollection(Pod, { namespace: "default" })).then(nothing),
    ),
  ),
  story(
    "a claim takes a volume, and the volume is kept when the claim goes",
    PersistentVolume({
      name: "disk",
      spec: { ...manual, capacity: { storage: "1Gi" }, hostPath: { path: "/volumes/disk" } },
    }),
    PersistentVolumeClaim({ name: "data", spec: { ...manual, resources: { requests: { storage: "1Gi" } } } }),
    happens("the volume is bound", (world) => untilPhase(world, "Bound")),
    remove(PersistentVolumeClaim, "data"),
    happens("the volume is released", (world) => untilPhase(world, "Released")),
    remove(PersistentVolume, { name: "disk" }),
  ),
  story(
    "Endpoints of a Service without a selector are mirrored",
    Service({ name: "far", spec: { ports: [{ port: 80 }] } }),
    Endpoints({ name: "far", subsets: [{ addresses: [{ ip: "10.1.2.3" }], ports: [{ port: 80 }] }] }),
    patch(Endpoints, "far", { subsets: [{ addresses: [{ ip: "10.1.2.4" }], ports: [{ port: 80 }] }] }),
    remove(Endpoints, "far"),
    remove(Service, "far"),
  ),
  story(
    "a HorizontalPodAutoscaler keeps a Deployment above its minimum",
    web,
    HorizontalPodAutoscaler({
      name: "web",
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        minReplicas: 3,
        maxReplicas: 4,
      },
    }),
    happens("it is scaled to the minimum", (world) =>
      world.until("three replicas", async () => (await world.get(Deployment, "web")).spec?.replicas === 3, {
        within: 600_000,
      }),
    ),
    remove(HorizontalPodAutoscaler, "web"),
    remove(Deployment, "web"),
  ),
  story(
    "a namespace is terminated with its contents",
    Namespace({ name: "team" }),
    { ...web, metadata: { ...web.metadata, namespace: "team" } },
    remove(Namespace, { name: "team" }),
  ),
  ...certificateWorlds,
  ...quotaWorlds,
];

/** As kubectl does: without a policy the server would leave the pods. */
async function removeWithPods(world: World, kind: KindRef, name: string): Promise<void> {
  const background = { propagationPolicy: "Background" } as const;
  await world.wait(world.client.delete(kind, { name, namespace: "default" }, background).catch(unlessGone));
}

async function untilPhase(world: World, phase: string): Promise<void> {
  const isThere = async () => (await world.get(PersistentVolume, { name: "disk" })).status?.phase === phase;
  // A fault may delete the claim or the volume before.
  await world.until(`the volume is ${phase}`, isThere, { within: 600_000 }).catch(unlessGone);
}

function nothing(): void {}

function unlessGone(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

async function own(world: World, owner: string, dependent: string): Promise<void> {
  const { uid } = (await world.get(ConfigMap, owner)).metadata;
  const reference = { apiVersion: "v1", kind: "ConfigMap", name: owner, uid, blockOwnerDeletion: true };
  await world.patch(ConfigMap, dependent, { metadata: { ownerReferences: [reference] } });
}

/** The garbage collector is part of the world: what it does is not struck. */
export function subject(): Setting {
  return { operators: [builtInControllers], controllers: "collector", oracles: [certificatesAreIssued] };
}

/** Those of one process. */
function builtInControllers(): Operator {
  const all = [
    deployments,
    replicaSets,
    replicationControllers,
    endpoints,
    leftoverEndpoints,
    endpointMirroring,
    podDisruptionBudgets,
    horizontalPodAutoscalers(),
    statefulSets,
    daemonSets(),
    taintEvictions(),
    jobs,
    cronJobs,
    jobOrphans,
    scheduler(),
    namespaces,
    claimBinder,
    volumePhases,
    claimProtection,
    serviceAccounts({ caPem: "simulated" }),
    resourceQuotas,
    certificateSigner({ authority: simulatedAuthority() }),
  ];
  return defineOperator({
    name: "controllers",
    controllers: all,
    permissions: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }],
  });
}

export const options: Omit<LawOptions, "worlds"> = {
  seed: 7,
  withinMs: 600_000,
  // Its serial number tells how often one was signed.
  mayDiffer: ["CertificateSigningRequest.status.certificate"],
  // A ReplicaSet names its pods by chance, as upstream's: one whose creation had no answer is made again, and
  // the surplus goes. In a namespace that ends, two of them delete the same.
  oracles: allOracles.filter(({ name }) => name !== "no work twice"),
};
