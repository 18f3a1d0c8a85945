/** What happens to workloads; the same on both sides. */
import {
  ConfigMap,
  CronJob,
  DaemonSet,
  Deployment,
  Job,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  ReplicationController,
  ResourceQuota,
  Service,
  StatefulSet,
} from "@setpoint/api";
import { isNotFound } from "@setpoint/apimachinery";
import { labels, type Stage, template } from "./stage.ts";

export interface Story {
  /** A namespace's name too. */
  readonly name: string;
  /** Kinds that are not compared, and why. */
  readonly leftOut?: Readonly<Record<string, string>>;
  tell(stage: Stage): Promise<void>;
}

const selector = { matchLabels: labels };

function web(name: string, replicas: number): Deployment {
  return Deployment({ name, spec: { replicas, selector, template: template() } });
}

async function untilRolledOut(stage: Stage, name: string, replicas: number): Promise<void> {
  await stage.until(`${replicas} available replicas of ${name}`, async () => {
    const { status, metadata } = await stage.get(Deployment, name);
    const isSeen = status?.observedGeneration === metadata.generation && status?.replicas === replicas;
    return isSeen && status?.availableReplicas === replicas && status.updatedReplicas === replicas;
  });
}

async function untilJob(stage: Stage, name: string, type: string): Promise<void> {
  await stage.until(`condition ${type} of ${name}`, async () => {
    const { status } = await stage.get(Job, name);
    return (status?.conditions ?? []).some((each) => each.type === type && each.status === "True");
  });
}

async function untilGone(
  stage: Stage,
  kind: typeof Deployment | typeof ConfigMap | typeof Job,
  name: string,
): Promise<void> {
  await stage.until(`the end of ${name}`, () =>
    stage.client.get(kind, stage.key(name)).then(
      () => false,
      (error: unknown) => isNotFound(error),
    ),
  );
}

async function evict(stage: Stage, pod: string): Promise<void> {
  const path = `/api/v1/namespaces/${stage.namespace}/pods/${pod}/eviction`;
  const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: stage.key(pod) };
  await stage.client.request({ method: "POST", path, body });
}

export const stories: readonly Story[] = [
  {
    name: "deployment-rollout",
    async tell(stage) {
      await stage.create(Deployment, web("web", 3));
      await untilRolledOut(stage, "web", 3);
      await stage.patch(Deployment, "web", { spec: { template: template("web:2") } });
      await untilRolledOut(stage, "web", 3);
    },
  },
  {
    name: "deployment-undo-and-scale",
    async tell(stage) {
      await stage.create(Deployment, web("web", 2));
      await untilRolledOut(stage, "web", 2);
      await stage.patch(Deployment, "web", { spec: { template: template("web:2") } });
      await untilRolledOut(stage, "web", 2);
      await stage.patch(Deployment, "web", { spec: { template: template("web:1") } });
      await untilRolledOut(stage, "web", 2);
      await stage.patch(Deployment, "web", { spec: { replicas: 4 } });
      await untilRolledOut(stage, "web", 4);
    },
  },
  {
    name: "deployment-paused",
    async tell(stage) {
      await stage.create(Deployment, web("web", 1));
      await untilRolledOut(stage, "web", 1);
      await stage.patch(Deployment, "web", { spec: { paused: true, replicas: 2, template: template("web:2") } });
      await stage.until(
        "two replicas",
        async () => (await stage.get(Deployment, "web")).status?.availableReplicas === 2,
      );
    },
  },
  {
    name: "replication-controller-releases",
    async tell(stage) {
      const spec = { replicas: 1, selector: labels, template: template() };
      await stage.create(ReplicationController, ReplicationController({ name: "web", spec }));
      await stage.until("a pod", async () => (await stage.list(Pod)).length === 1);
      const [pod] = await stage.list(Pod);
      await stage.patch(Pod, pod?.metadata.name ?? "", { metadata: { labels: { app: "other" } } });
      await stage.until("another pod", async () => (await stage.list(Pod)).length === 2);
    },
  },
  {
    name: "stateful-set-rollout",
    async tell(stage) {
      const spec = { replicas: 2, serviceName: "db", selector, template: template() };
      await stage.create(StatefulSet, StatefulSet({ name: "db", spec }));
      const isRolledOut = async (replicas: number): Promise<boolean> => {
        const { status, metadata } = await stage.get(StatefulSet, "db");
        const isSeen = status?.observedGeneration === metadata.generation && status?.readyReplicas === replicas;
        return isSeen && status?.currentRevision === status?.updateRevision && status?.updatedReplicas === replicas;
      };
      await stage.until("two members", () => isRolledOut(2));
      await stage.patch(StatefulSet, "db", { spec: { replicas: 3, template: template("web:2") } });
      await stage.until("three members of the new template", () => isRolledOut(3));
    },
  },
  {
    name: "daemon-set-rollout",
    async tell(stage) {
      await stage.create(DaemonSet, DaemonSet({ name: "agent", spec: { selector, template: template() } }));
      const isRolledOut = async (): Promise<boolean> => {
        const { status, metadata } = await stage.get(DaemonSet, "agent");
        const isSeen = status?.observedGeneration === metadata.generation;
        return isSeen && status?.numberAvailable === 1 && status.updatedNumberScheduled === 1;
      };
      await stage.until("a pod on the node", isRolledOut);
      await stage.patch(DaemonSet, "agent", { spec: { template: template("web:2") } });
      await stage.until("a pod of the new template", isRolledOut);
    },
  },
  {
    name: "job-completes",
    async tell(stage) {
      const spec = { completions: 3, parallelism: 2, template: template("work:1", "end") };
      await stage.create(Job, Job({ name: "work", spec }));
      await untilJob(stage, "work", "Complete");
    },
  },
  {
    name: "job-indexed-with-a-failure",
    async tell(stage) {
      const indexed = { completionMode: "Indexed" as const, backoffLimitPerIndex: 0 };
      const spec = { completions: 3, parallelism: 3, ...indexed, template: template("work:1", "fail-index-1") };
      await stage.create(Job, Job({ name: "work", spec }));
      await untilJob(stage, "work", "Failed");
    },
  },
  {
    name: "job-goes-after-its-end",
    async tell(stage) {
      const spec = { ttlSecondsAfterFinished: 1, template: template("work:1", "end") };
      await stage.create(Job, Job({ name: "work", spec }));
      await untilGone(stage, Job, "work");
    },
  },
  {
    name: "cron-job-runs-once",
    async tell(stage) {
      const jobTemplate = { spec: { template: template("work:1", "end") } };
      await stage.create(CronJob, CronJob({ name: "night", spec: { schedule: "* * * * *", jobTemplate } }));
      await stage.until("a Job that has ended", async () => (await stage.list(Job))[0]?.status?.succeeded === 1);
      await stage.patch(CronJob, "night", { spec: { suspend: true } });
    },
  },
  {
    name: "eviction-by-budget",
    async tell(stage) {
      await stage.create(Deployment, web("web", 2));
      const budget = PodDisruptionBudget({ name: "web", spec: { minAvailable: 1, selector } });
      await stage.create(PodDisruptionBudget, budget);
      const isAllowed = async (): Promise<boolean> =>
        (await stage.get(PodDisruptionBudget, "web")).status?.disruptionsAllowed === 1;
      await stage.until("a disruption is allowed", isAllowed);
      const [pod] = await stage.list(Pod);
      await evict(stage, pod?.metadata.name ?? "");
      await stage.until("the pod has gone", async () =>
        (await stage.list(Pod)).every(({ metadata }) => metadata.uid !== pod?.metadata.uid),
      );
      await untilRolledOut(stage, "web", 2);
      await stage.until("a disruption is allowed again", isAllowed);
    },
  },
  {
    name: "garbage-collection",
    async tell(stage) {
      const policies = { back: "Background", front: "Foreground", left: "Orphan" } as const;
      for (const [name, propagationPolicy] of Object.entries(policies)) {
        const own = { app: name };
        const pods = { ...template(), metadata: { labels: own } };
        const spec = { replicas: 1, selector: { matchLabels: own }, template: pods };
        await stage.create(Deployment, Deployment({ name, spec }));
        await untilRolledOut(stage, name, 1);
        await stage.client.delete(Deployment, stage.key(name), { propagationPolicy });
        await untilGone(stage, Deployment, name);
      }
      await stage.until("one ReplicaSet is left", async () => (await stage.list(ReplicaSet)).length === 1);
      const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "never", uid: "never-there" }];
      await stage.create(ConfigMap, ConfigMap({ name: "absent-owner", ownerReferences }));
      await untilGone(stage, ConfigMap, "absent-owner");
    },
  },
  {
    name: "endpoints-of-services",
    async tell(stage) {
      await stage.create(Deployment, web("web", 2));
      const ports = [{ name: "http", port: 80, targetPort: 8080 }];
      await stage.create(Service, Service({ name: "web", spec: { selector: labels, ports } }));
      await stage.create(Service, Service({ name: "gone", spec: { selector: labels, ports } }));
      await untilRolledOut(stage, "web", 2);
      await stage.client.delete(Service, stage.key("gone"));
    },
  },
  {
    name: "quota-refuses",
    leftOut: {
      ResourceQuota:
        "our admission counts for itself, and does not write the status that upstream's controller expects",
    },
    async tell(stage) {
      await stage.create(ResourceQuota, ResourceQuota({ name: "pods", spec: { hard: { pods: "1" } } }));
      await stage.until(
        "the quota counts",
        async () => (await stage.get(ResourceQuota, "pods")).status?.used !== undefined,
      );
      const spec = { replicas: 2, selector, template: template() };
      await stage.create(ReplicaSet, ReplicaSet({ name: "web", spec }));
      await stage.until(
        "the refusal",
        async () => (await stage.get(ReplicaSet, "web")).status?.conditions?.length === 1,
      );
    },
  },
];
