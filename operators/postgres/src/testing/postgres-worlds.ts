/** What is explored of this operator, in every world. Only tests and `npm run explore` import this. */
import {
  allOracles,
  excuseFaults,
  type Fault,
  given,
  happens,
  type LawOptions,
  patch,
  type StoryInit,
  type StoryStep,
  story,
} from "setpoint/testing";
import { labels } from "../kind/labels.ts";
import { PostgresCluster } from "../kind/postgres-cluster.ts";
import { modelOf } from "./postgres-model.ts";

export { postgresSetting as subject } from "./postgres-setting.ts";

function cluster(more: Partial<PostgresCluster["spec"]> = {}): PostgresCluster {
  return PostgresCluster({ name: "orders", spec: { storage: { size: "1Gi" }, ...more } });
}

const synchronous = cluster({ synchronous: { number: 1, durability: "required" } });

const killPrimary = happens("the processes of the primary die", (world) => {
  const name = modelOf(world.host).primary()?.name;
  if (name !== undefined && world.runs(name)) world.kill(name);
});

/** Longer than its lease; it comes back as a replica. */
const cutOffPrimary: StoryStep = happens("the primary is cut off for a while", async (world) => {
  const postgres = modelOf(world.host);
  const name = postgres.primary()?.name;
  if (name === undefined) return;
  postgres.isolate(name);
  await world.run(20_000);
  postgres.reconnect();
});

/** The operator waits while it is fenced, so that such a world does not come to rest. */
const fencePrimary: StoryStep = happens("the primary is fenced for a while", async (world) => {
  const members = [modelOf(world.host).primary()?.name ?? "orders-1"];
  await world.patch(PostgresCluster, "orders", { spec: { fencing: { members, allowQuorumLoss: true } } });
  await world.run(20_000);
  await world.patch(PostgresCluster, "orders", { spec: { fencing: null } });
});

const switchOver = patch(PostgresCluster, "orders", {
  metadata: { annotations: { [labels.switchover]: "orders-2" } },
});

export const worlds: readonly StoryInit[] = [
  story("a cluster starts", cluster()),
  story("the primary of a synchronous cluster dies", given(synchronous), killPrimary),
  story("the primary of an asynchronous cluster dies", given(cluster()), killPrimary),
  story("a synchronous cluster switches over", given(synchronous), switchOver),
  story("the primary of a synchronous cluster is cut off", given(synchronous), cutOffPrimary),
  story("the primary of an asynchronous cluster is cut off", given(cluster()), cutOffPrimary),
  story(
    "a cluster grows and shrinks",
    given(cluster({ instances: 1 })),
    patch(PostgresCluster, "orders", { spec: { instances: 3 } }),
    patch(PostgresCluster, "orders", { spec: { instances: 2 } }),
  ),
  story(
    "a synchronous cluster hibernates and wakes",
    given(synchronous),
    patch(PostgresCluster, "orders", { spec: { hibernated: true } }),
    patch(PostgresCluster, "orders", { spec: { hibernated: false } }),
  ),
  story("the primary of a synchronous cluster is fenced for a while", given(synchronous), fencePrimary),
];

/** Longer than every period of the operator and of the instances; a world at rest has a scenario. */
const quietMsEnough = 20_000;

/** The operator reads certificates again now and then, and a run is shorter. */
function losesSecret(fault: Fault): boolean {
  return fault.kind === "E1" && fault.child.resource === "secrets";
}

/** The volume of a primary may have commits that no replica has: the operator waits for a person. */
function losesVolume(fault: Fault): boolean {
  return fault.kind === "E10" || (fault.kind === "E1" && fault.child.resource === "persistentvolumeclaims");
}

/** Two failovers in one minute write the status about 65 times, each time with something new. */
function causesFailover(fault: Fault): boolean {
  return fault.kind === "E8" || fault.kind === "E9" || (fault.kind === "E1" && fault.child.resource === "pods");
}

export const options: Omit<LawOptions, "worlds"> = {
  seed: 7,
  quietMs: quietMsEnough,
  oracles: excuseFaults(allOracles, {
    "same end as without faults": losesSecret,
    converges: losesVolume,
    bounded: causesFailover,
  }),
  // Which instance leads, and how often that changed, is chance.
  mayDiffer: [
    ...[
      "primary",
      "term",
      "lastFailover",
      "lastSwitchover",
      "lastServing",
      "lastPosition",
      "lastTimeline",
      "members",
    ].map((field) => `PostgresCluster.status.${field}`),
    "PostgresCluster.status.certificatesEnd",
    "PostgresCluster.status.hibernation.since",
    "PostgresCluster.status.conditions.*.message",
    // The operator finds volumes and Secrets without labels, which are for people, who may edit them.
    "PersistentVolumeClaim.metadata.labels",
    "Secret.metadata.labels",
    `Pod.metadata.labels.${labels.role}`,
    "Secret.data",
    "Secret.metadata.annotations",
  ],
};
