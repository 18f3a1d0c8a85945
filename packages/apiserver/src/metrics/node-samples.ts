/**
 * The two latest samples of each node, taken when a client asks: a cluster whose metrics no client reads does
 * no work for them.
 */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import { type Clock, type Logger, sleep } from "@setpoint/host";
import { parseUsageSample, type UsageSample } from "./usage-sample.ts";

/** Answers within this time share a sample. */
const freshMsMax = 5_000;
/** An older sample says nothing of what is used now. */
const baselineMsMax = 90_000;
/** The window of the first answer. */
const firstWindowMs = 1_000;
/** A node that does not answer by then is left out. */
const answerMsMax = 5_000;

/** Two moments of a node; the first answer of a container has only the later one. */
export interface SamplePair {
  readonly before: UsageSample | undefined;
  readonly now: UsageSample;
}

/** Asks a node's agent for `/stats/summary`. */
export type ReadSummary = (node: UnstructuredObject, signal: AbortSignal) => Promise<unknown>;

export interface NodeSamplesOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly readSummary: ReadSummary;
}

interface Taken {
  readonly pair: SamplePair;
  readonly takenAtMs: number;
}

export class NodeSamples {
  readonly #options: NodeSamplesOptions;
  readonly #taken = new Map<string, Taken>();
  readonly #underWay = new Map<string, Promise<SamplePair | undefined>>();

  constructor(options: NodeSamplesOptions) {
    this.#options = options;
  }

  /** Undefined when the node does not answer. Requests at the same time share one sample. */
  async of(node: UnstructuredObject): Promise<SamplePair | undefined> {
    const uid = node.metadata.uid ?? "";
    const latest = this.#taken.get(uid);
    if (latest !== undefined && this.#ageOf(latest) < freshMsMax) return latest.pair;
    const running = this.#underWay.get(uid) ?? this.#take(node, uid);
    this.#underWay.set(uid, running);
    return running;
  }

  /** Forgets all nodes but these. */
  keep(nodes: readonly UnstructuredObject[]): void {
    const uids = new Set(nodes.map(({ metadata }) => metadata.uid ?? ""));
    for (const uid of this.#taken.keys()) if (!uids.has(uid)) this.#taken.delete(uid);
  }

  async #take(node: UnstructuredObject, uid: string): Promise<SamplePair | undefined> {
    const { clock, log } = this.#options;
    try {
      const before = await this.#baseline(node, uid);
      const pair = { before, now: await this.#read(node) };
      this.#taken.set(uid, { pair, takenAtMs: clock.monotonic() });
      return pair;
    } catch (error) {
      log.debug("Could not read the metrics of a node", { node: node.metadata.name, error });
      return undefined;
    } finally {
      this.#underWay.delete(uid);
    }
  }

  async #baseline(node: UnstructuredObject, uid: string): Promise<UsageSample> {
    const latest = this.#taken.get(uid);
    if (latest !== undefined && this.#ageOf(latest) <= baselineMsMax) return latest.pair.now;
    const first = await this.#read(node);
    await sleep(this.#options.clock, firstWindowMs);
    return first;
  }

  #ageOf({ takenAtMs }: Taken): number {
    return this.#options.clock.monotonic() - takenAtMs;
  }

  async #read(node: UnstructuredObject): Promise<UsageSample> {
    const { clock, readSummary } = this.#options;
    const limit = new AbortController();
    const late = new Error(`The agent did not answer within ${answerMsMax / 1_000} s`);
    const timer = clock.setTimer(() => limit.abort(late), answerMsMax);
    try {
      return parseUsageSample(await readSummary(node, limit.signal));
    } finally {
      timer.cancel();
    }
  }
}
