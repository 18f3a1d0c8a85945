import type { Logger } from "@setpoint/host";

/**
 * A problem that a person must solve before a kind can be cached. It is logged once, however often it occurs,
 * and its end too.
 */
export class ReportedProblem {
  readonly #log: Logger;
  readonly #resource: string;
  #text: string | undefined;

  constructor(log: Logger, resource: string) {
    this.#log = log;
    this.#resource = resource;
  }

  /** The present problem. */
  get text(): string | undefined {
    return this.#text;
  }

  /** Returns whether a person must act. */
  report(problem: string | undefined): boolean {
    if (problem !== undefined && problem !== this.#text)
      this.#log.error("Cannot fill a cache", { resource: this.#resource, problem });
    // Another error does not end the problem, only an answer does.
    this.#text = problem ?? this.#text;
    return problem !== undefined;
  }

  /** Called when a watch starts. A list is not enough: the right to watch may still be missing. */
  resolve(): void {
    if (this.#text !== undefined) this.#log.info("Cache can be filled again", { resource: this.#resource });
    this.#text = undefined;
  }
}
