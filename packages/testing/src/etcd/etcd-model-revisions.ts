/** Keys of simulated etcd by revision, for clients that follow changes and write in transactions. */
import type { EtcdData, KeyChange } from "./etcd-data.ts";
import { refusal } from "./etcd-refusal.ts";
import type { QuorumGroup } from "./quorum-group.ts";

interface Leading {
  readonly data: EtcdData;
  readonly group: QuorumGroup;
}

/** One transaction, which happens only if the last change of `key` is of this revision; 0: no such key. */
export interface GuardedPuts {
  readonly guard: { readonly key: string; readonly revision: number };
  /** Without a value the key is deleted. */
  readonly puts: readonly Omit<KeyChange, "revision">[];
}

export class EtcdModelRevisions {
  readonly #leading: (endpoint: string) => Promise<Leading>;

  /** `leading`: what a member that can reach a quorum sees. */
  constructor(leading: (endpoint: string) => Promise<Leading>) {
    this.#leading = leading;
  }

  async head(endpoint: string): Promise<{ readonly clusterId: string; readonly revision: number }> {
    const { clusterId, revision } = (await this.#leading(endpoint)).data;
    return { clusterId, revision };
  }

  /** A value, and the revision of its last change. */
  async read(endpoint: string, key: string): Promise<KeyChange | undefined> {
    const { data } = await this.#leading(endpoint);
    const value = data.keys.get(key);
    return value === undefined ? undefined : { key, value, revision: revisionOf(data, key) };
  }

  /** What has changed from this revision on; refused when it is forgotten. */
  async changes(endpoint: string, from: number): Promise<readonly KeyChange[]> {
    const { data } = await this.#leading(endpoint);
    if (from <= data.compacted) throw refusal("etcdserver: mvcc: required revision has been compacted");
    return data.history.filter(({ revision }) => revision >= from);
  }

  /** The revision of the last change; undefined when the guard did not hold, and nothing was changed. */
  async commit(endpoint: string, { guard, puts }: GuardedPuts): Promise<number | undefined> {
    const { data, group } = await this.#leading(endpoint);
    if (revisionOf(data, guard.key) !== guard.revision) return undefined;
    for (const { key, value } of puts) group.propose({ kind: "put", key, value });
    return data.revision;
  }
}

function revisionOf(data: EtcdData, key: string): number {
  return data.keys.has(key) ? (data.lastChange(key)?.revision ?? 1) : 0;
}
