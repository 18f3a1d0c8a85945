import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { shortHash } from "../kind/member-names.ts";

/** The parts of a snapshot that decide the initial members. */
interface Founding {
  readonly cluster: EtcdCluster;
  readonly members: readonly { readonly name: string; readonly volume?: object | undefined }[];
}

/** The maximum number of members with which a cluster begins. */
const sizeMax = 7;

/**
 * The members that begin: those of the first start, or those of an earlier cluster whose volumes a user gave
 * to this one. Each of them starts on its own data, so that none starts empty beside them.
 */
export function initialMembers({ cluster, members }: Founding): readonly string[] {
  if (cluster.status?.clusterID !== undefined || cluster.spec.volumeClaimTemplate === undefined)
    return initialMemberNames(cluster);
  const own = new Set(derivedNames(cluster, sizeMax));
  const recorded = initialMemberNames(cluster);
  const adopted = members.filter(({ name, volume }) => volume !== undefined && !own.has(name)).map(({ name }) => name);
  return adopted.every((name) => recorded.includes(name)) ? recorded : adopted.sort();
}

/**
 * The members of the first start. Once they are in the status they stay. Before that they follow from the UID
 * and the size, so that an operator that crashes creates the same ones again.
 */
function initialMemberNames(cluster: EtcdCluster): readonly string[] {
  const recorded = cluster.status?.initialMembers;
  if (recorded !== undefined && recorded.length > 0) return recorded;
  return derivedNames(cluster, cluster.spec.size).toSorted();
}

function derivedNames({ metadata: { name = "", uid = "" } }: EtcdCluster, count: number): readonly string[] {
  const names = new Set<string>();
  for (let i = 0; names.size < count; i++) names.add(`${name}-${shortHash(`${uid}/${i}`)}`);
  return [...names];
}
