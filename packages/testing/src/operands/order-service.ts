/**
 * A model of a system outside of the cluster with an HTTP API: a chocolate factory that takes orders and
 * works on them. It executes each request, also a repeated one, unless it supports idempotency keys: a client
 * that orders twice pays twice.
 */
import { type Host, sleep } from "@setpoint/host";
import type { OutsideModel } from "../program-model.ts";
import { Reachability } from "./reachability.ts";

/** An order as the service answers it. */
export interface Order {
  readonly id: string;
  /** The caller's name for the order; several orders may have the same. */
  readonly reference: string;
  readonly flavor: string;
  readonly state: "accepted" | "made" | "cancelled";
}

/** The body of a request for an order. */
export interface NewOrder {
  readonly reference: string;
  readonly flavor: string;
  /** Orders with the same key are one order, if the service is idempotent. */
  readonly idempotencyKey?: string;
}

/** How the simulated service behaves. */
export interface OrderServiceOptions {
  /** Whether it supports idempotency keys; default false, as most services. */
  readonly idempotent?: boolean;
  /** How long it works on an order, at most; default ten seconds. */
  readonly workMsMax?: number;
}

/** An answer other than 2xx. */
export class OrderRefusal extends Error {
  override readonly name = "OrderRefusal";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const workMsMaxDefault = 10_000;
const latencyMsMax = 30;

/**
 * Call it through `process.call`, so that its calls are traced, counted and cut off with the process:
 * `process.call("factory order", "write", ()
 */
export class OrderService implements OutsideModel {
  /** Down, hung, partitioned, slow, answers lost. */
  readonly network: Reachability = new Reachability("chocolate.example.com:443");
  readonly #options: OrderServiceOptions;
  #orders = new Map<string, Order>();
  readonly #byKey = new Map<string, string>();
  #count = 0;
  #refusals: number[] = [];
  #host: Host | undefined;

  constructor(options: OrderServiceOptions = {}) {
    this.#options = options;
  }

  attach(host: Host): void {
    this.#host = host;
  }

  /** The orders that are to be made; whether one is made already is a matter of time. */
  data(): Readonly<Record<string, unknown>> {
    const orders = this.orders.filter(({ state }) => state !== "cancelled");
    return { orders: orders.map(({ reference, flavor }) => ({ reference, flavor })).sort(byReference) };
  }

  /** All orders that it took, also cancelled ones. */
  get orders(): readonly Order[] {
    return [...this.#orders.values()];
  }

  /** References of which more than one order was taken and not cancelled. */
  get duplicates(): readonly string[] {
    const seen = new Map<string, number>();
    for (const { reference, state } of this.#orders.values())
      if (state !== "cancelled") seen.set(reference, (seen.get(reference) ?? 0) + 1);
    return [...seen].filter(([, count]) => count > 1).map(([reference]) => reference);
  }

  /** It answers the next requests with this status, and does not execute them. */
  refuse(count: number, status = 503): void {
    this.#refusals = Array.from({ length: count }, () => status);
  }

  /** It loses all orders, as by a restore from an old backup. */
  loseData(): void {
    this.#orders = new Map();
    this.#byKey.clear();
  }

  order({ reference, flavor, idempotencyKey }: NewOrder): Promise<Order> {
    return this.#asked(() => {
      const known = idempotencyKey === undefined ? undefined : this.#orders.get(this.#byKey.get(idempotencyKey) ?? "");
      if (known !== undefined && this.#options.idempotent === true) return known;
      const order: Order = { id: `order-${++this.#count}`, reference, flavor, state: "accepted" };
      this.#orders.set(order.id, order);
      if (idempotencyKey !== undefined) this.#byKey.set(idempotencyKey, order.id);
      this.#workOn(order);
      return order;
    });
  }

  get(id: string): Promise<Order> {
    return this.#asked(() => this.#known(id));
  }

  find(reference: string): Promise<readonly Order[]> {
    return this.#asked(() => this.orders.filter((each) => each.reference === reference));
  }

  cancel(id: string): Promise<Order> {
    return this.#asked(() => {
      const order = this.#known(id);
      if (order.state === "made") throw new OrderRefusal(409, `${id} is made already`);
      return this.#put({ ...order, state: "cancelled" });
    });
  }

  async #asked<T>(work: () => T): Promise<T> {
    const { clock, random } = this.#hostOrThrow();
    await sleep(clock, random.int(latencyMsMax));
    return this.network.answer(clock, () => {
      const status = this.#refusals.shift();
      if (status !== undefined) throw new OrderRefusal(status, `the factory answers ${status}`);
      return work();
    });
  }

  #known(id: string): Order {
    const order = this.#orders.get(id);
    if (order === undefined) throw new OrderRefusal(404, `there is no order ${id}`);
    return order;
  }

  #put(order: Order): Order {
    this.#orders.set(order.id, order);
    return order;
  }

  #workOn({ id }: Order): void {
    const { clock, random } = this.#hostOrThrow();
    clock.setTimer(
      () => {
        const order = this.#orders.get(id);
        if (order?.state === "accepted") this.#put({ ...order, state: "made" });
      },
      random.int(this.#options.workMsMax ?? workMsMaxDefault),
    );
  }

  #hostOrThrow(): Host {
    if (this.#host === undefined)
      throw new Error("Cannot ask the order service: it is not part of a world yet; pass it as `models` to simulate");
    return this.#host;
  }
}

function byReference(a: Pick<Order, "reference" | "flavor">, b: Pick<Order, "reference" | "flavor">): number {
  return a.reference.localeCompare(b.reference) || a.flavor.localeCompare(b.flavor);
}
