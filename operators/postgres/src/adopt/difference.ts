/** What of a manifest of CloudNativePG differs in what is written of it. */

/**
 * `changed`: it is carried over and means something else. `byHand`: a person must do it. `dropped`: there is
 * no such thing here. `unneeded`: it happens without the field. `unknown`: CloudNativePG 1.27 has no such
 * field. `refused`: what is written is not accepted yet.
 */
export type Outcome = "changed" | "byHand" | "dropped" | "unneeded" | "unknown" | "refused";

/** Why a field is not carried over as it is. */
export interface Reason {
  readonly outcome: Outcome;
  readonly why: string;
  /** What a person does about it; absent when there is nothing to do. */
  readonly todo?: string;
}

export interface Difference extends Reason {
  /** Such as `Cluster "shop/orders"`. */
  readonly object: string;
  /** Such as `spec.tablespaces`; empty for the object as a whole. */
  readonly path: string;
}

const words: Readonly<Record<Outcome, string>> = {
  changed: "changed",
  byHand: "by hand",
  dropped: "not carried over",
  unneeded: "not needed",
  unknown: "unknown",
  refused: "refused",
};

/** One line for a person. */
export function differenceText({ object, path, outcome, why, todo }: Difference): string {
  const place = path === "" ? object : `${object} ${path}`;
  return `${place}: ${words[outcome]}: ${why}${todo === undefined ? "" : `; ${todo}`}`;
}

/** What a person must do comes first. */
const order = ["refused", "byHand", "unknown", "dropped", "changed", "unneeded"] as const satisfies readonly Outcome[];

/** Collects the differences of one object. */
export class Report {
  readonly object: string;
  readonly #differences: Difference[] = [];

  constructor(object: string) {
    this.object = object;
  }

  get differences(): readonly Difference[] {
    const rank = ({ outcome }: Difference): number => order.indexOf(outcome);
    return this.#differences.toSorted((a, b) => rank(a) - rank(b));
  }

  add(path: string, outcome: Outcome, why: string, todo?: string): void {
    this.#differences.push({ object: this.object, path, outcome, why, ...(todo === undefined ? {} : { todo }) });
  }
}
