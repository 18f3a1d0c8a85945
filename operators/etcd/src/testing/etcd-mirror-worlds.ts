/** What is explored of EtcdMirrors. Only tests and `npm run explore` import this. */
import { simulatedIssuer } from "@setpoint/data-service";
import {
  allOracles,
  excuseFaults,
  EtcdModel,
  type Fault,
  conditionOf,
  given,
  happens,
  type LawOptions,
  patch,
  remove,
  type Setting,
  simulatedOperatorImage,
  type StoryInit,
  story,
} from "setpoint/testing";
import { minutes } from "setpoint";
import { EtcdCluster } from "../kind/etcd-cluster.ts";
import { etcdOperator } from "../etcd-operator.ts";
import { EtcdMirror } from "../mirror/etcd-mirror.ts";
import { isLostForGood, mirrorLaws } from "./mirror-laws.ts";
import { SimulatedClients, writingClient } from "./simulated-client.ts";
import { simulatedGateway } from "./simulated-gateway.ts";
import { SimulatedMirrors } from "./simulated-mirrors.ts";

/** The operator with models of etcd, of mirrors and of clients, all new, and the laws about mirrors. */
export function subject(): Setting {
  const etcd = new EtcdModel();
  const mirrors = new SimulatedMirrors(etcd);
  return {
    models: [etcd, mirrors, new SimulatedClients(etcd)],
    operators: [
      (process) => etcdOperator(simulatedGateway(etcd, process), {}, simulatedOperatorImage, simulatedIssuer),
    ],
    oracles: mirrorLaws(etcd, mirrors),
  };
}

function cluster(name: string): EtcdCluster {
  return EtcdCluster({
    name,
    spec: {
      size: 1,
      version: "3.4.23",
      tls: { mode: "Disabled" },
      volumeClaimTemplate: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    },
  });
}

const mirror = EtcdMirror({ name: "follow", spec: { source: { cluster: "shop" }, cluster: "orders", prefix: "/a/" } });
const begin = [
  given(cluster("orders")),
  given(cluster("shop")),
  given(writingClient("first", "shop", { "/a/1": "one", "/a/2": "two", "/b/1": "not copied" })),
];
/** A user goes on when all is copied. */
const follows = happens("a user waits until the mirror follows", (world) =>
  world.until(
    "Ready",
    async () => (await world.list(EtcdMirror)).every((each) => conditionOf(each, "Ready")?.status === "True"),
    { within: minutes(5) },
  ),
);
const later = writingClient("later", "shop", { "/a/1": "", "/a/3": "three" });

export const worlds: readonly StoryInit[] = [
  story(
    "a mirror is made, changed and deleted",
    ...begin,
    mirror,
    follows,
    patch(EtcdMirror, "follow", { spec: { existingKeys: "Replace" } }),
    later,
    remove(EtcdMirror, "follow"),
  ),
  story(
    "the destination of a mirror wants a login",
    ...begin,
    mirror,
    follows,
    patch(EtcdCluster, "orders", { spec: { auth: { enabled: true } } }),
    later,
  ),
];

/** A Deployment that is made again has no history. */
function losesHistory(fault: Fault): boolean {
  return isLostForGood(fault) || (fault.kind === "E1" && fault.child.resource === "deployments");
}

export const options: Omit<LawOptions, "worlds"> = {
  seed: 7,
  // A mirror at rest asks its source every ten seconds: a day of that costs as much as all faults.
  quietMs: minutes(3),
  oracles: excuseFaults(allOracles, {
    "same end as without faults": losesHistory,
    converges: isLostForGood,
    "stays quiet": isLostForGood,
  }),
  mayDiffer: [
    ...["Pod.spec.containers.*.args", "EtcdCluster.status.initialMembers", "EtcdCluster.status.latestRevision"],
    // A pod that has ended on a node that was lost for a while stays as it is.
    ...["Secret.data", "Pod.status.conditions.*.reason"],
    // Each attempt writes the record once more.
    ...["EtcdMirror.status.revision", "EtcdMirror.status.sourceRevision", "EtcdMirror.status.reportedAt"],
  ],
};
