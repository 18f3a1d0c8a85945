/** The half of the engine that the operator calls. The other one is `etcd-agent.ts`. */
import {
  compareVersions,
  type DataFolder,
  type DataFolderPaths,
  type EngineControl,
  type InstanceState,
} from "@setpoint/data-service";
import type { Stored } from "setpoint";
import { EtcdCluster } from "../etcd-cluster.ts";
import { etcdUsers } from "../etcd-users.ts";
import type { EtcdGateway } from "../gateway/etcd-gateway.ts";
import { clientUrl, labels, peerUrl } from "../member-names.ts";
import type { PinnedImages } from "../related-images.ts";
import { memberImage } from "../resources/member-image.ts";
import { memberVolume } from "../resources/member-volume.ts";
import { placeOf, withTlsMode } from "../resources/tls.ts";
import { dataRefusal } from "../etcd-version.ts";
import { externalEtcd } from "./external-etcd.ts";
import { preparedFor, seedName } from "./restore-names.ts";

/** The user of members, who must own the data. */
const user = 65_532;
/** From this version on, the tool is `etcdutl`; 3.6 has no other. */
const utilitySince = "3.5.0";

/** The engine "etcd"; `gateway` changes its users. */
export function etcdEngine(pinned: PinnedImages, gateway: EtcdGateway): EngineControl<EtcdCluster> {
  return {
    ...engine,
    dataFolder: (stored, id, paths) => dataFolder(stored, id, paths, pinned),
    users: etcdUsers(gateway),
  };
}

const engine: Omit<EngineControl<EtcdCluster>, "dataFolder"> = {
  name: "etcd",
  kind: EtcdCluster,
  state,
  // Followers first: a snapshot costs the member that gives it.
  source: (cluster) => {
    const { status } = cluster;
    const mode = withTlsMode(cluster, []);
    const members = (status?.members ?? []).filter(({ healthy, role }) => healthy && role !== "Learner");
    const sorted = members.toSorted((a, b) => Number(a.role === "Leader") - Number(b.role === "Leader"));
    const request = { endpoints: sorted.map((member) => clientUrl(member.name, mode)) };
    const secretNames = [status?.tls?.clientSecret, status?.auth?.rootSecret].filter((each) => each !== undefined);
    return { request, secretNames };
  },
  refusal: ({ spec }) =>
    spec.volumeClaimTemplate === undefined
      ? "data are restored onto a volume, and the spec has no volumeClaimTemplate"
      : undefined,
  external: externalEtcd,
  versionRefusal: ({ spec, status }, engineVersion) =>
    dataRefusal(engineVersion, status?.currentVersion ?? spec.version),
  newInstance: (name, namespace, spec) =>
    // The server checks the merged spec when the object is created.
    EtcdCluster({ name, namespace, spec: spec as EtcdCluster["spec"] }),
};

function state({ spec, status }: Stored<EtcdCluster>): InstanceState {
  const conditions = (status?.conditions ?? []) as readonly { readonly type?: unknown; readonly status?: unknown }[];
  const isAvailable = conditions.some((each) => each.type === "Available" && each.status === "True");
  return {
    serving: isAvailable && (status?.readyMembers ?? 0) > 0,
    waitingFor: status?.waitingFor?.what,
    engineVersion: status?.currentVersion ?? spec.version,
    restored: status?.restore?.back === true ? undefined : status?.restore?.id,
    stoppedFor: status?.stoppedFor,
  };
}

/**
 * The snapshot becomes the data of one member, the seed, in a cluster with an ID of its own; members of the
 * cluster from before can never join it. The others join as learners.
 */
function dataFolder(
  stored: Stored<EtcdCluster>,
  restoreId: string,
  { snapshotFile, claimFolder }: DataFolderPaths,
  pinned: PinnedImages,
): DataFolder {
  const cluster = withTlsMode(stored, []);
  const { name, uid } = stored.metadata;
  const seed = seedName(stored, restoreId);
  const url = peerUrl(seed, cluster);
  const version = cluster.status?.currentVersion ?? cluster.spec.version;
  const tool = compareVersions(version, utilitySince) >= 0 ? "etcdutl" : "etcdctl";
  const claim = memberVolume(cluster, seed);
  if (claim === undefined) throw new Error(`Cannot restore into EtcdCluster "${name}": it has no volumeClaimTemplate`);
  const annotations = { ...claim.metadata.annotations, [labels.clusterUid]: preparedFor(uid, restoreId) };
  // A restore that fails leaves the claim, which must go with a cluster that never got its data.
  const owners = cluster.spec.deletionPolicy === "Delete" ? { ownerReferences: [placeOf(cluster).owner] } : {};
  return {
    image: memberImage(cluster, version, pinned),
    command: [
      ...[tool, "snapshot", "restore", snapshotFile],
      ...[`--name=${seed}`, `--initial-cluster=${seed}=${url}`, `--initial-advertise-peer-urls=${url}`],
      ...[`--initial-cluster-token=${uid}-${restoreId}`, `--data-dir=${claimFolder}/member-data`],
    ],
    user,
    claim: { ...claim, metadata: { ...claim.metadata, ...owners, annotations } },
  };
}
