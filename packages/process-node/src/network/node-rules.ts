/** Keeps the rules of one node in the cluster's namespace equal to what the API says. */
import type { Clock, Logger, Timer } from "@setpoint/host";

export interface NodeRulesOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** The rules as they should be now. */
  readonly compile: () => string;
  /** `before` is what is in force; empty when that is not known. */
  readonly apply: (rules: string, before: string) => Promise<unknown>;
}

/** Changes that come together are applied together. */
const gatherMs = 20;
const retryMs = 2_000;

/** Applies rules one after the other, and only when they differ. */
export class NodeRules implements AsyncDisposable {
  readonly #options: NodeRulesOptions;
  #applied = "";
  #tail: Promise<void> = Promise.resolve();
  #timer: Timer | undefined;
  #isOver = false;

  constructor(options: NodeRulesOptions) {
    this.#options = options;
  }

  /** Something changed. */
  update(delayMs: number = gatherMs): void {
    if (this.#isOver) return;
    this.#timer ??= this.#options.clock.setTimer(() => {
      this.#timer = undefined;
      this.ensure().catch((error: unknown) => {
        this.#options.log.error("Could not apply network rules", { error });
        this.update(retryMs);
      });
    }, delayMs);
  }

  /** Resolves when the rules as of now are in force; rejects when they cannot be applied. */
  ensure(): Promise<void> {
    const pass = this.#tail.then(() => this.#apply());
    this.#tail = pass.catch(() => {});
    return pass;
  }

  /** The rules stay in force. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    this.#timer?.cancel();
    await this.#tail;
  }

  async #apply(): Promise<void> {
    const rules = this.#options.compile();
    if (rules === this.#applied) return;
    const before = this.#applied;
    this.#applied = "";
    await this.#options.apply(rules, before);
    this.#applied = rules;
  }
}
