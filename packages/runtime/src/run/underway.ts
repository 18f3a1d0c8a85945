/**
 * Counts what is under way, for whoever waits until nothing is. A Set of promises would say the same, but one that takes and loses
 * a hundred thousand elements leaves a chain of old tables behind, which keep all of them until a full collection of garbage.
 */
export class Underway {
  #count = 0;
  #waiting: (() => void)[] = [];

  begin(): void {
    this.#count++;
  }

  end(): void {
    if (--this.#count > 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  /** Resolves when as many have ended as have begun. */
  async allEnded(): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
