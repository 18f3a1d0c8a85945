import type { EtcdCluster } from "../etcd-cluster.ts";

const alphabet = "bcdfghjklmnpqrstvwxz2456789";

/**
 * The members of the first start. Once written to the status they stay; before that they follow from the UID and the size,
 * so that an operator that crashes and begins again makes the same ones.
 */
export function initialMemberNames(cluster: EtcdCluster): readonly string[] {
  const recorded = cluster.status?.initialMembers;
  if (recorded !== undefined && recorded.length > 0) return recorded;
  const { name = "", uid = "" } = cluster.metadata;
  const names = new Set<string>();
  for (let i = 0; names.size < cluster.spec.size; i++) names.add(`${name}-${suffix(`${uid}/${i}`)}`);
  return [...names].sort();
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
