/** An etcd in memory, with revisions, transactions, watches and compaction. */
import {
  CompactedError,
  type GuardedChanges,
  type KeyChange,
  type KeyRange,
  MirrorProblem,
  type MirrorDestination,
  type MirrorSource,
  type WatchEvent,
} from "./mirror-end.ts";

interface Kept {
  readonly value: string;
  readonly revision: number;
}

export class FakeEtcd {
  readonly clusterId: string;
  revision = 1;
  compacted = 0;
  isReachable = true;
  /** The transactions that came from mirrors. */
  readonly commits: GuardedChanges[] = [];
  /** Runs before each transaction of a mirror. */
  beforeCommit: (() => void) | undefined;
  pageKeys = 3;
  readonly #keys = new Map<string, Kept>();
  readonly #history: WatchEvent[] = [];
  readonly #waiting = new Set<() => void>();

  constructor(clusterId: string, keys: Readonly<Record<string, string>> = {}) {
    this.clusterId = clusterId;
    for (const [key, value] of Object.entries(keys)) this.write([{ key, value }]);
  }

  /** One transaction. */
  write(changes: readonly KeyChange[]): number {
    this.revision++;
    for (const { key, value } of changes) {
      if (value === undefined) this.#keys.delete(key);
      else this.#keys.set(key, { value, revision: this.revision });
      this.#history.push({ key, revision: this.revision, ...(value === undefined ? {} : { value }) });
    }
    this.wake();
    return this.revision;
  }

  put(key: string, value: string): void {
    this.write([{ key, value }]);
  }

  delete(key: string): void {
    this.write([{ key }]);
  }

  compact(): void {
    this.compacted = this.revision;
    this.wake();
  }

  /** Watches end when it is not reachable any more. */
  wake(): void {
    for (const each of this.#waiting) each();
  }

  /** What a client sees, without the records of mirrors. */
  get keys(): Readonly<Record<string, string>> {
    const entries = [...this.#keys].filter(([key]) => !key.startsWith("setpoint.dev/mirrors/"));
    return Object.fromEntries(entries.map(([key, { value }]) => [key, value]));
  }

  text(key: string): string | undefined {
    return this.#keys.get(key)?.value;
  }

  /** The connection of one attempt. */
  end(side: "Source" | "Destination", signal: AbortSignal): MirrorSource & MirrorDestination {
    const check = (): void => {
      signal.throwIfAborted();
      if (!this.isReachable) throw new MirrorProblem(`${side}Unreachable`, `no answer with canary-password`);
    };
    const sorted = ({ from, to }: KeyRange): readonly [string, Kept][] =>
      [...this.#keys]
        .filter(([key]) => key >= from && (to === "\0" || key < to))
        .toSorted(([a], [b]) => (a < b ? -1 : 1));
    return {
      head: async () => {
        check();
        return { clusterId: this.clusterId, revision: this.revision };
      },
      pages: async function* (this: FakeEtcd, range: KeyRange, revision?: number) {
        for (let from = range.from; ;) {
          check();
          if (revision !== undefined && revision < this.compacted) throw new CompactedError("compacted");
          // Reads of an old revision are those of the newest one: tests change nothing meanwhile.
          const found = sorted({ from, to: range.to });
          const entries = found.slice(0, this.pageKeys).map(([key, { value }]) => ({ key, value }));
          yield { revision: this.revision, entries };
          const last = entries.at(-1);
          if (last === undefined || found.length <= this.pageKeys) return;
          from = `${last.key}\0`;
        }
      }.bind(this),
      watch: async function* (this: FakeEtcd, { from, to }: KeyRange, start: number) {
        for (let next = start; ;) {
          check();
          if (next <= this.compacted) throw new CompactedError("compacted");
          const events = this.#history.filter(
            ({ key, revision }) => revision >= next && key >= from && (to === "\0" || key < to),
          );
          next = this.revision + 1;
          if (events.length > 0) yield { events, revision: events.at(-1)?.revision ?? 0, isPart: false };
          await this.#change(next, signal);
        }
      }.bind(this),
      record: async (key) => {
        check();
        const found = this.#keys.get(key);
        return found === undefined ? undefined : { text: found.value, revision: found.revision };
      },
      commit: async (guarded) => {
        check();
        this.beforeCommit?.();
        const { recordKey, guard, changes, record } = guarded;
        if ((this.#keys.get(recordKey)?.revision ?? 0) !== guard) return undefined;
        this.commits.push(guarded);
        return this.write([...changes, ...(record === undefined ? [] : [{ key: recordKey, value: record }])]);
      },
    };
  }

  async #change(next: number, signal: AbortSignal): Promise<void> {
    while (this.revision < next && this.isReachable && !signal.aborted && this.compacted < next) {
      const woken = Promise.withResolvers<void>();
      const wake = (): void => woken.resolve();
      this.#waiting.add(wake);
      signal.addEventListener("abort", wake, { once: true });
      await woken.promise;
      this.#waiting.delete(wake);
    }
  }
}
