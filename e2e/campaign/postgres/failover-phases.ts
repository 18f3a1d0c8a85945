/** Where the time goes between a strike and the next write: what the status and the pods show, and when. */
import { setTimeout as delay } from "node:timers/promises";
import { Pod } from "setpoint/kinds";
import type { PhaseWatch } from "../strike.ts";
import type { PostgresTarget } from "./postgres-target.ts";

const lookEveryMs = 25;

/** In the order in which they come. */
type Phase = "deposed" | "appointed" | "labelled" | "written";

export class FailoverPhases implements PhaseWatch {
  readonly #target: PostgresTarget;
  readonly #startMs = performance.now();
  readonly #phases = new Map<Phase, number>();
  readonly #ending = new AbortController();
  readonly #watching: Promise<void>;

  constructor(target: PostgresTarget, acknowledged: () => number) {
    this.#target = target;
    this.#watching = this.#watch(acknowledged);
  }

  /** Milliseconds since the strike; without those that did not come. */
  async end(): Promise<Readonly<Record<string, number>>> {
    this.#ending.abort();
    await this.#watching;
    return Object.fromEntries(this.#phases);
  }

  async #watch(acknowledged: () => number): Promise<void> {
    const { term: termBefore = 0 } = (await this.#target.cluster.get()).status ?? {};
    let countBefore: number | undefined;
    for (; !this.#ending.signal.aborted && !this.#phases.has("written"); await delay(lookEveryMs)) {
      const { term = 0, primary } = (await this.#target.cluster.get().catch(() => undefined))?.status ?? {};
      if (term <= termBefore) continue;
      this.#note("deposed");
      if (primary === undefined) continue;
      this.#note("appointed");
      if (!this.#phases.has("labelled") && !(await this.#isLabelled(primary))) continue;
      this.#note("labelled");
      countBefore ??= acknowledged();
      if (acknowledged() > countBefore) this.#note("written");
    }
  }

  async #isLabelled(name: string): Promise<boolean> {
    const { client, namespace } = this.#target.cluster;
    const pod = await client.get(Pod, { name, namespace }).catch(() => undefined);
    return pod?.metadata.labels?.["postgres.setpoint.dev/role"] === "primary";
  }

  #note(phase: Phase): void {
    if (!this.#phases.has(phase)) this.#phases.set(phase, Math.round(performance.now() - this.#startMs));
  }
}
