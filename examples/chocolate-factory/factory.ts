/**
 * A chocolate factory, which knows nothing of Kubernetes. Its machines take sugar and make bars; each bar's
 * sweetness is measured, with noise, and a machine that wears makes every bar a little sweeter than the last.
 */

/**
 * A bar as the factory made and measured it; a type, not an interface, because the operator's ledger keeps it
 * as JSON.
 */
export type Bar = {
  readonly id: string;
  readonly machine: number;
  /** How much was ordered. */
  readonly sugar: number;
  readonly sweetness: number;
};

/** What a client may ask of the factory, here or over HTTP. */
export interface FactoryApi {
  /** The bar that was ordered under a key; undefined when none was. */
  find(key: string): Promise<Bar | undefined>;
  /** Makes a bar from an amount of sugar. A second order under the same key returns the first bar. */
  order(key: string, sugar: number): Promise<Bar>;
  /** Throws a bar away; disposing of it again changes nothing. */
  dispose(id: string): Promise<void>;
}

export interface Machine {
  /** How much sweeter than ordered its bars are. */
  readonly offset: number;
  /** How much the offset grows with each bar; default 0. */
  readonly wear?: number;
}

export interface FactoryOptions {
  /** A number from 0 to 1; a test hands in one that repeats. */
  readonly random: () => number;
  readonly machines: readonly Machine[];
}

/** A measurement is wrong by at most so much. */
export const measurementNoise = 2;

export class Factory implements FactoryApi {
  readonly #options: FactoryOptions;
  readonly #bars = new Map<string, Bar>();
  readonly #disposed = new Set<string>();
  readonly #drift: number[];

  constructor(options: FactoryOptions) {
    this.#options = options;
    this.#drift = options.machines.map(({ offset }) => offset);
  }

  /** All bars that were ever made, in order. */
  get bars(): readonly Bar[] {
    return [...this.#bars.values()];
  }

  /** The ids of the bars that were thrown away. */
  get disposed(): readonly string[] {
    return [...this.#disposed];
  }

  async find(key: string): Promise<Bar | undefined> {
    return this.#bars.get(key);
  }

  async order(key: string, sugar: number): Promise<Bar> {
    const known = this.#bars.get(key);
    if (known !== undefined) return known;
    const number = this.#bars.size;
    const machine = (number % this.#drift.length) + 1;
    const bar = { id: `bar-${number + 1}`, machine, sugar, sweetness: this.#measured(sugar + this.#drifted(machine)) };
    this.#bars.set(key, bar);
    return bar;
  }

  async dispose(id: string): Promise<void> {
    this.#disposed.add(id);
  }

  /** A mechanic sets a machine back to zero. */
  calibrate(machine: number): void {
    this.#drift[machine - 1] = 0;
  }

  #drifted(machine: number): number {
    const drift = this.#drift[machine - 1] ?? 0;
    this.#drift[machine - 1] = drift + (this.#options.machines[machine - 1]?.wear ?? 0);
    return drift;
  }

  #measured(sweetness: number): number {
    const noise = (this.#options.random() * 2 - 1) * measurementNoise;
    return Math.round((sweetness + noise) * 10) / 10;
  }
}
