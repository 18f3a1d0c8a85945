/** What is explored of members that a user keeps stopped. Only tests and `npm run explore` import this. */
import { Operation, simulatedIssuer } from "@setpoint/data-service";
import {
  allOracles,
  excuseFaults,
  EtcdModel,
  type Fault,
  type FaultKind,
  given,
  happens,
  type LawOptions,
  type Setting,
  type StoryInit,
  type StoryStep,
  run,
  story,
  unsettled,
  type World,
} from "setpoint/testing";
import { minutes, type Stored } from "setpoint";
import { EtcdCluster } from "../kind/etcd-cluster.ts";
import { etcdOperator } from "../etcd-operator.ts";
import { fencingLaws } from "./fencing-laws.ts";
import { simulatedGateway } from "./simulated-gateway.ts";

/** The operator with a model of etcd, both new, and the laws about fencing. */
export function subject(): Setting {
  const etcd = new EtcdModel();
  return {
    models: [etcd],
    operators: [(process) => etcdOperator(simulatedGateway(etcd, process), {}, undefined, simulatedIssuer)],
    oracles: fencingLaws(etcd),
  };
}

const instance = { apiGroup: EtcdCluster.group, kind: EtcdCluster.kind, name: "orders" };

/** It would go on from a survivor, if fenced members counted as lost. */
const cluster = EtcdCluster({
  name: "orders",
  spec: {
    size: 3,
    version: "3.4.23",
    tls: { mode: "Disabled" },
    volumeClaimTemplate: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    quorumRecovery: { policy: "afterTimeout", fencingSeconds: 30, withoutCopy: false, keepCopySeconds: 60 },
  },
});

type Choice = (cluster: EtcdCluster) => readonly string[];

/**
 * A user reads the random names of members in the status, and waits until the cluster has followed. A fenced
 * cluster waits for its user, so it does not settle.
 */
function fence(what: string, choose: Choice, allowQuorumLoss = false): StoryStep {
  return unsettled(
    happens(`a user fences ${what}`, async (world) => {
      const [present] = await world.list(EtcdCluster);
      if (present === undefined) return;
      await world.patch(EtcdCluster, "orders", { spec: { fencing: { members: choose(present), allowQuorumLoss } } });
      await world.until(
        "the members are fenced, or refused",
        async () => isFollowed(await theCluster(world)),
        patience,
      );
    }),
  );
}

const patience = { within: minutes(5) };

async function theCluster(world: World): Promise<Stored<EtcdCluster>> {
  return world.get(EtcdCluster, "orders");
}

/** Whether the operator has followed or refused each entry of the list, and all other members are healthy. */
function isFollowed({ spec, status, metadata }: Stored<EtcdCluster>): boolean {
  if (status?.observedGeneration !== metadata.generation || status?.phase !== "Fenced") return false;
  const { members = [], refused = [] } = status.fencing ?? {};
  const names = [...members.map(({ name }) => name), ...refused.map(({ member }) => member)];
  return (
    names.toSorted().join() === spec.fencing?.members.toSorted().join() &&
    members.every(({ state }) => state === "Stopped")
  );
}

const fenced: Choice = ({ status }) => status?.fencing?.members.map(({ name }) => name) ?? [];
const leader: Choice = ({ status }) => (status?.leader === undefined ? [] : [status.leader]);
const follower: Choice = ({ status }) =>
  (status?.members ?? [])
    .filter(({ name, role }) => role !== "Leader" && name !== status?.leader)
    .map(({ name }) => name)
    .filter((name) => status?.fencing?.members.every((each) => each.name !== name) ?? true)
    .slice(0, 1);

const release = happens("a user releases all members", async (world) => {
  if ((await world.list(EtcdCluster)).length > 0) await world.patch(EtcdCluster, "orders", { spec: { fencing: null } });
});

/** For the member that is fenced, else for the leader. */
function operate(type: "Fence" | "Unfence"): StoryStep {
  return unsettled(
    happens(`an Operation of type ${type} is applied`, async (world) => {
      const [present] = await world.list(EtcdCluster);
      const [member] = present === undefined ? [] : [...fenced(present), ...leader(present)];
      if (member === undefined) return;
      const name = type.toLowerCase();
      // A clock that jumps by an hour ends no Operation.
      await world.apply(Operation({ name, spec: { instance, type, member, deadlineSeconds: 86_400 } }));
      const isOver = async (): Promise<boolean> => (await world.get(Operation, name)).status?.finishedAt !== undefined;
      await world.until("the end of the Operation", isOver, patience);
    }),
  );
}

export const worlds: readonly StoryInit[] = [
  story(
    "a follower is fenced, the leader is refused beside it, and all are released",
    given(cluster),
    fence("a follower", follower),
    fence("the leader, too", (present) => [...fenced(present), ...leader(present)]),
    release,
  ),
  story(
    "a majority is fenced with consent, stays fenced without it, and is released",
    given(cluster),
    fence("the leader", leader),
    fence("a follower, too, with consent", (present) => [...fenced(present), ...follower(present)], true),
    fence("the same members, and takes the consent back", fenced),
    run(minutes(1)),
    release,
  ),
  story("Operations fence and unfence the leader", given(cluster), operate("Fence"), operate("Unfence")),
];

/**
 * A volume that a user deletes is lost: beside a fenced member the others have no quorum then, until the user
 * releases it.
 */
function losesVolume(fault: Fault): boolean {
  return fault.kind === "E1" && fault.child.resource === "persistentvolumeclaims";
}

/** An Operation is refused while another member does not answer, and does not come back to it. */
const stopsMember: ReadonlySet<FaultKind> = new Set(["E1", "E8", "E9"]);

export const options: Omit<LawOptions, "worlds"> = {
  seed: 7,
  // A cluster rests for a day in another module.
  quietMs: minutes(3),
  oracles: excuseFaults(allOracles, {
    converges: losesVolume,
    "same end as without faults": ({ kind }) => stopsMember.has(kind),
  }),
  mayDiffer: ["Pod.spec.containers.*.args", "EtcdCluster.status.initialMembers", "Operation.status.progress"],
};
