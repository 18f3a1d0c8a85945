/** What is explored of this operator, in every world. Only tests and `npm run explore` import this. */
import { happens, type LawOptions, patch, remove, type StoryInit, story } from "setpoint/testing";
import { Pod } from "setpoint/kinds";
import { EtcdCluster } from "../kind/etcd-cluster.ts";

export { etcdSetting as subject } from "./etcd-setting.ts";

const spec = {
  version: "3.4.23",
  // Certificates have a world of their own: without them a schedule is half as long.
  tls: { mode: "Disabled" },
  volumeClaimTemplate: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
} satisfies Partial<EtcdCluster["spec"]>;

function cluster(more: Partial<EtcdCluster["spec"]> = {}): EtcdCluster {
  return EtcdCluster({ name: "orders", spec: { ...spec, size: 3, ...more } });
}

export const worlds: readonly StoryInit[] = [
  story("a cluster starts", cluster()),
  story("a cluster grows", cluster({ size: 1 }), patch(EtcdCluster, "orders", { spec: { size: 3 } })),
  story("a cluster shrinks", cluster(), patch(EtcdCluster, "orders", { spec: { size: 1 } })),
  story("a cluster is upgraded", cluster(), patch(EtcdCluster, "orders", { spec: { version: "3.5.16" } })),
  story(
    "a member is replaced",
    cluster(),
    happens("the process of a member dies", async (world) => {
      // A node that is lost at this moment has taken its processes along.
      const pod = (await world.list(Pod)).find(({ metadata }) => world.runs(metadata.name));
      if (pod !== undefined) world.kill(pod.metadata.name);
    }),
  ),
  story("a cluster is deleted", cluster(), remove(EtcdCluster, "orders")),
  story("a cluster with certificates starts", cluster({ size: 1, tls: { mode: "Enabled" } })),
];

/**
 * Each authority has a random name. At rest the operator reads no certificates, so a label that a user edits
 * on their Secrets stays until one is written again.
 */
const certificates = [
  "Secret.data",
  "Secret.metadata.annotations",
  "Secret.metadata.labels.etcd.setpoint.dev/cluster",
  "Pod.metadata.annotations",
  "EtcdCluster.status.tls.certificatesEnd",
  "EtcdCluster.status.tls.authorityEnds",
];

export const options: Omit<LawOptions, "worlds"> = {
  seed: 7,
  // How a member joins depends on when it was started; and a replaced member is not its predecessor.
  // The members of the first start are those of the size that was wanted when it was seen.
  mayDiffer: ["Pod.spec.containers.*.args", "EtcdCluster.status.initialMembers", ...certificates],
};
