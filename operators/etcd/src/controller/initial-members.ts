import type { EtcdCluster } from "../etcd-cluster.ts";

const alphabet = "bcdfghjklmnpqrstvwxz2456789";

/** What of a snapshot decides it. */
interface Founding {
  readonly cluster: EtcdCluster;
  readonly members: readonly { readonly name: string; readonly volume?: object | undefined }[];
}

/** The most members that a cluster can begin with. */
const sizeMax = 7;

/**
 * The members that begin: those of the first start, or those of an earlier cluster whose volumes a person has given to this one. Each of
 * them starts on its own data, so that nobody starts empty beside them.
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
 * The members of the first start. Once written to the status they stay; before that they follow from the UID and the size,
 * so that an operator that crashes and begins again makes the same ones.
 */
function initialMemberNames(cluster: EtcdCluster): readonly string[] {
  const recorded = cluster.status?.initialMembers;
  if (recorded !== undefined && recorded.length > 0) return recorded;
  return derivedNames(cluster, cluster.spec.size).toSorted();
}

function derivedNames({ metadata: { name = "", uid = "" } }: EtcdCluster, count: number): readonly string[] {
  const names = new Set<string>();
  for (let i = 0; names.size < count; i++) names.add(`${name}-${suffix(`${uid}/${i}`)}`);
  return [...names];
}

/** Six characters from a text, by FNV-1a: equal texts give equal suffixes, and nothing here needs to be secret. */
function suffix(text: string): string {
  let hash = 0x811c9dc5;
  let result = "";
  for (let i = 0; i < 6; i++) {
    for (const char of text) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193) >>> 0;
    result += alphabet[hash % alphabet.length];
  }
  return result;
}
