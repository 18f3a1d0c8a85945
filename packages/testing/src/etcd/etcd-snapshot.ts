/** Snapshots of simulated etcd: `etcdctl snapshot restore` makes the data of a new cluster of one member. */
import type { Launch, Program } from "../program-model.ts";
import { parseEtcdArguments } from "./etcd-arguments.ts";
import { type AuthRecord, EtcdData } from "./etcd-data.ts";
import { idOf } from "./etcd-member.ts";

/** What a snapshot has: the keys and the users, and nothing of the members. */
interface SnapshotContent {
  readonly revision: number;
  readonly clusterMinor: number;
  readonly keys: readonly (readonly [string, string])[];
  readonly auth: AuthRecord;
}

export function snapshotText({ revision, clusterMinor, keys, auth }: EtcdData): string {
  const content: SnapshotContent = { revision, clusterMinor, keys: [...keys], auth };
  return JSON.stringify(content);
}

/** Ends at once. `made` gets the ID of the new cluster. */
export function restoreSnapshot(launch: Launch, made: (clusterId: string) => void): Program {
  const { volumes, command } = launch;
  const file = command[3] ?? "";
  const folder = [...volumes].find(([path]) => file.startsWith(`${path}/`));
  const snapshot = folder?.[1].files.get(file.slice(folder[0].length + 1));
  const options = parseEtcdArguments(command);
  const target = [...volumes].find(([path]) => options.dataDirectory.startsWith(`${path}/`));
  const name = options.dataDirectory.slice((target?.[0].length ?? 0) + 1);
  if (typeof snapshot !== "string" || target === undefined) launch.exited(1, `Error: stat ${file}: no such file`);
  else if (target[1].files.size > 0) launch.exited(1, `Error: data-dir "${options.dataDirectory}" not empty`);
  else {
    // The text was made above.
    const data = dataOf(JSON.parse(snapshot) as SnapshotContent, options);
    made(data.clusterId);
    target[1].files.set(`${memberMount}/${name}`, data);
    launch.exited(0);
  }
  return { terminate: () => {}, kill: () => {} };
}

/** Where members mount their volume: a simulated volume keeps data by their path in the container. */
const memberMount = "/var/lib/etcd";

function dataOf(
  content: SnapshotContent,
  { name, initialCluster, token }: ReturnType<typeof parseEtcdArguments>,
): EtcdData {
  const peerUrl = initialCluster.get(name) ?? "";
  const memberId = idOf(peerUrl, token);
  const data = new EtcdData(idOf(memberId, "cluster"), memberId);
  data.apply({ kind: "add", member: { id: memberId, name: "", peerUrl, isLearner: false } }, 1);
  data.keys = new Map(content.keys);
  data.revision = content.revision;
  data.clusterMinor = content.clusterMinor;
  data.auth = content.auth;
  return data;
}
