/** One side of a mirror in simulated worlds: a cluster of the model of etcd. Only tests import this. */
import { type Clock, sleep } from "@setpoint/host";
import { type EtcdModel, EtcdRefusal } from "setpoint/testing";
import type { EtcdLogin } from "../gateway/etcd-gateway.ts";
import {
  CompactedError,
  type GuardedChanges,
  type Head,
  type KeyPage,
  type KeyRange,
  type MirrorDestination,
  MirrorProblem,
  type MirrorSource,
  type WatchMessage,
} from "../mirror/mirror-end.ts";

/** How often a watch asks the model for changes. */
const watchMs = 2_000;

export interface SimulatedEndOptions {
  readonly side: "Source" | "Destination";
  readonly etcd: EtcdModel;
  readonly cluster: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Asked at each call, because Secrets are replaced while a pod runs. */
  login(): EtcdLogin | undefined;
}

export class SimulatedMirrorEnd implements MirrorSource, MirrorDestination {
  readonly #options: SimulatedEndOptions;

  constructor(options: SimulatedEndOptions) {
    this.#options = options;
  }

  head(): Promise<Head> {
    return this.#ask(({ revisions }, endpoint) => revisions.head(endpoint));
  }

  /** All keys as they are now: one that changes meanwhile is seen by the watch again. */
  async *pages(range: KeyRange): AsyncGenerator<KeyPage> {
    const { revision } = await this.head();
    const keys = await this.#ask((etcd, endpoint) => etcd.keys(endpoint));
    const entries = [...keys].filter(([key]) => isIn(range, key)).toSorted(([a], [b]) => (a < b ? -1 : 1));
    yield { revision, entries: entries.map(([key, value]) => ({ key, value })) };
  }

  async *watch(range: KeyRange, from: number): AsyncGenerator<WatchMessage> {
    const { clock, signal } = this.#options;
    for (let next = from; ; await sleep(clock, watchMs, signal)) {
      const changes = await this.#ask(({ revisions }, endpoint) => revisions.changes(endpoint, next));
      const last = changes.at(-1)?.revision ?? next - 1;
      const events = changes.filter(({ key }) => isIn(range, key));
      if (events.length > 0) yield { events, revision: last, isPart: false };
      next = last + 1;
    }
  }

  async record(key: string): ReturnType<MirrorDestination["record"]> {
    const found = await this.#ask(({ revisions }, endpoint) => revisions.read(endpoint, key));
    return found?.value === undefined ? undefined : { text: found.value, revision: found.revision };
  }

  commit({ recordKey, guard, changes, record }: GuardedChanges): Promise<number | undefined> {
    const puts = changes.map(({ key, value }) => ({ key, value }));
    if (record !== undefined) puts.push({ key: recordKey, value: record });
    const guarded = { guard: { key: recordKey, revision: guard }, puts };
    return this.#ask(({ revisions }, endpoint) => revisions.commit(endpoint, guarded));
  }

  async #ask<T>(send: (etcd: EtcdModel, endpoint: string) => Promise<T>): Promise<T> {
    const { side, etcd, cluster, signal } = this.#options;
    signal.throwIfAborted();
    const member = etcd.members(cluster).find(({ isServing }) => isServing);
    if (member === undefined) throw new MirrorProblem(`${side}Unreachable`, "no member answers");
    const endpoint = `http://${member.launch.podIp}:2379`;
    try {
      await etcd.users.enter(endpoint, this.#options.login());
      return await send(etcd, endpoint);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof EtcdRefusal && error.message.includes("compacted")) throw new CompactedError(error.message);
      const kind = error instanceof EtcdRefusal ? "Refused" : "Unreachable";
      throw new MirrorProblem(`${side}${kind}`, String(error));
    }
  }
}

function isIn({ from, to }: KeyRange, key: string): boolean {
  return key >= from && (to === "\0" || key < to);
}
