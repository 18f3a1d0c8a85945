/**
 * How a kind's present objects are fetched. Measured with 100,000 objects of 2 KB (`bench/README.md`): one
 * list is the quickest and costs the server least; a streaming list has no time limit and needs the least
 * memory of servers before 1.33, which make a whole answer before they send it; pages are what every server
 * has.
 */
export type SyncMethod = "list" | "watchList" | "pages";

const order: readonly SyncMethod[] = ["list", "watchList", "pages"];

/** The present way, and what comes after it when it does not work. */
export class SyncPlan {
  #method: SyncMethod;

  constructor(method: SyncMethod) {
    this.#method = method;
  }

  get method(): SyncMethod {
    return this.#method;
  }

  /** The last way is kept: there is no other. */
  fallBack(): void {
    this.#method = order[order.indexOf(this.#method) + 1] ?? "pages";
  }
}
