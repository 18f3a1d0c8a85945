import type { Logger } from "@setpoint/host";

/** What a person has to do before a kind can be cached: said once, however often it is met, and that it is done too. */
export class ToldProblem {
  readonly #log: Logger;
  readonly #resource: string;
  #text: string | undefined;

  constructor(log: Logger, resource: string) {
    this.#log = log;
    this.#resource = resource;
  }

  /** The present one. */
  get text(): string | undefined {
    return this.#text;
  }

  /** Says whether there is something for a person to do. */
  note(problem: string | undefined): boolean {
    if (problem !== undefined && problem !== this.#text)
      this.#log.error("Cannot fill a cache", { resource: this.#resource, problem });
    // Other errors do not mend it: only an answer does.
    this.#text = problem ?? this.#text;
    return problem !== undefined;
  }

  /** Listing alone proves nothing: the right to watch may still be missing. */
  mended(): void {
    if (this.#text !== undefined) this.#log.info("Can fill a cache again", { resource: this.#resource });
    this.#text = undefined;
  }
}
