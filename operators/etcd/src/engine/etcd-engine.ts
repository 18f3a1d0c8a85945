/** The half of the engine that the operator calls. The other one is `etcd-agent.ts`. */
import {
  compareVersions,
  type DataFolder,
  type DataFolderPaths,
  type EngineControl,
  type InstanceState,
} from "@setpoint/data-service";
import type { Stored } from "setpoint";
import { type AcceptanceOptions, refusalText } from "../kind/accepted-spec.ts";
import { acceptPlan } from "../kind/accepted-plan.ts";
import { EtcdCluster } from "../kind/etcd-cluster.ts";
import { etcdUsers } from "./etcd-users.ts";
import type { EtcdGateway } from "../gateway/etcd-gateway.ts";
import { clientUrl, labels, peerUrl } from "../kind/member-names.ts";
import { memberImage } from "../resources/member-image.ts";
import { memberVolume } from "../resources/member-volume.ts";
import { placeOf, withTlsMode } from "../resources/tls.ts";
import { dataRefusal } from "../kind/etcd-version.ts";
import { externalEtcd } from "./external-etcd.ts";
import { preparedFor, seedName } from "../kind/restore-names.ts";

/** The user of members, who must own the data. */
const user = 65_532;
/** From this version on, the tool is `etcdutl`; 3.6 has no other. */
const utilitySince = "3.5.0";

/** What the engine needs of the operator's settings. */
type EngineSettings = Pick<AcceptanceOptions, "pinnedImages" | "plans">;

/** The engine "etcd"; `gateway` changes its users. */
export function etcdEngine(settings: EngineSettings, gateway: EtcdGateway): EngineControl<EtcdCluster> {
  return {
    ...engine,
    refusal: (cluster) => refusal(cluster, settings),
    dataFolder: (stored, id, paths) => dataFolder(stored, id, paths, settings),
    users: etcdUsers(gateway),
  };
}

const engine: Omit<EngineControl<EtcdCluster>, "dataFolder" | "refusal"> = {
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
  external: externalEtcd,
  versionRefusal: ({ spec, status }, engineVersion) =>
    dataRefusal(engineVersion, status?.currentVersion ?? spec.version),
  newInstance: (name, namespace, spec) =>
    // The server checks the merged spec when the object is created.
    EtcdCluster({ name, namespace, spec: spec as EtcdCluster["spec"] }),
};

/** Whether a plan was withdrawn is for the cluster's own controller, which starts its members or does not. */
const anyDay = 0;

function refusal(wanted: EtcdCluster, { plans }: EngineSettings): string | undefined {
  const { cluster, refusals } = acceptPlan(wanted, [], plans, anyDay);
  if (cluster.spec.volumeClaimTemplate !== undefined) return undefined;
  if (refusals.length > 0) return refusalText(refusals);
  return "data are restored onto a volume, and the spec has no volumeClaimTemplate and no plan";
}

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
  { pinnedImages, plans }: EngineSettings,
): DataFolder {
  const { cluster } = acceptPlan(withTlsMode(stored, []), [], plans, anyDay);
  const { name, uid } = stored.metadata;
  const seed = seedName(stored, restoreId);
  const url = peerUrl(seed, cluster);
  const version = cluster.status?.currentVersion ?? cluster.spec.version;
  const tool = compareVersions(version, utilitySince) >= 0 ? "etcdutl" : "etcdctl";
  const claim = memberVolume(cluster, seed);
  if (claim === undefined) throw new Error(`Cannot restore into EtcdCluster "${name}": it has no volumes`);
  const annotations = { ...claim.metadata.annotations, [labels.clusterUid]: preparedFor(uid, restoreId) };
  // A restore that fails leaves the claim, which must go with a cluster that never got its data.
  const owners = cluster.spec.deletionPolicy === "Delete" ? { ownerReferences: [placeOf(cluster).owner] } : {};
  return {
    image: memberImage(cluster, version, pinnedImages),
    command: [
      ...[tool, "snapshot", "restore", snapshotFile],
      ...[`--name=${seed}`, `--initial-cluster=${seed}=${url}`, `--initial-advertise-peer-urls=${url}`],
      ...[`--initial-cluster-token=${uid}-${restoreId}`, `--data-dir=${claimFolder}/member-data`],
    ],
    user,
    claim: { ...claim, metadata: { ...claim.metadata, ...owners, annotations } },
  };
}
