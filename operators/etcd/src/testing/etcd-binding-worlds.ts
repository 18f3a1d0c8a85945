/** What is explored of the users of etcd. Only tests and `npm run explore` import this. */
import { ServiceBinding, simulatedIssuer } from "@setpoint/data-service";
import { minutes } from "setpoint";
import {
  allOracles,
  excuseFaults,
  EtcdModel,
  type Fault,
  happens,
  type LawOptions,
  patch,
  remove,
  run,
  type Setting,
  type StoryInit,
  story,
  unsettled,
} from "setpoint/testing";
import { EtcdCluster } from "../kind/etcd-cluster.ts";
import { etcdOperator } from "../etcd-operator.ts";
import { simulatedGateway } from "./simulated-gateway.ts";
import { oldLoginsAreDropped, publishedLoginsWork } from "./working-logins.ts";

/** The operator with a model of etcd, both new, and the law about logins. */
export function subject(etcd: EtcdModel = new EtcdModel()): Setting {
  return {
    models: [etcd],
    operators: [(process) => etcdOperator(simulatedGateway(etcd, process), {}, undefined, simulatedIssuer)],
    oracles: [publishedLoginsWork(etcd, "orders"), oldLoginsAreDropped(etcd, "orders")],
  };
}

export const cluster: EtcdCluster = EtcdCluster({
  name: "orders",
  spec: {
    size: 1,
    version: "3.4.23",
    tls: { mode: "Disabled" },
    auth: { enabled: true },
    volumeClaimTemplate: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  },
});
export const binding: ServiceBinding = ServiceBinding({
  name: "shop",
  spec: {
    instance: { apiGroup: EtcdCluster.group, kind: EtcdCluster.kind, name: "orders" },
    rights: { "/shop/": "readwrite" },
    rotation: { overlap: "5m" },
  },
});
const rotate = patch(ServiceBinding, "shop", { spec: { rotation: { request: "leaked" } } });
/** The next user was created then, and its login has just been published. */
const rotationMs = 120;
const restart = happens("the operator restarts", (world) => world.restartOperator());

export const worlds: readonly StoryInit[] = [
  story("a binding of etcd is made", cluster, binding),
  story("a login of etcd is rotated", cluster, binding, rotate, restart, run(minutes(7))),
  story(
    "a binding of etcd is revoked during a rotation",
    ...[cluster, binding, unsettled(rotate), run(rotationMs)],
    remove(ServiceBinding, "shop"),
  ),
  story(
    "a binding of etcd is revoked during an overlap",
    ...[cluster, binding, rotate],
    remove(ServiceBinding, "shop"),
  ),
];

/**
 * A user deletes a cluster or a binding for good, or the Secret with the only copy of the password of root.
 * That leads to another end; the law about logins holds all the same.
 */
function isLostForGood(fault: Fault): boolean {
  return fault.kind === "E1" && ["secrets", "servicebindings", "etcdclusters"].includes(fault.child.resource);
}

export const options: Omit<LawOptions, "worlds"> = {
  seed: 7,
  oracles: excuseFaults(allOracles, {
    "same end as without faults": isLostForGood,
    "same data outside as without faults": isLostForGood,
    converges: isLostForGood,
  }),
  mayDiffer: [
    ...["Pod.spec.containers.*.args", "EtcdCluster.status.initialMembers", "EtcdCluster.status.latestRevision"],
    // Passwords are random, and so are the moments from which a login counts.
    ...["Secret.data", "ServiceBinding.status.logins"],
    // Nothing selects the Secret of root by its label, and the operator writes it once.
    "Secret.metadata.labels.etcd.setpoint.dev/cluster",
  ],
};
