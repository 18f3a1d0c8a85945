/** Processes that share work and are killed at random, and the audit of what reached the server of them. */
import type { Random } from "@setpoint/host";
import {
  controller,
  startManager,
  type ControllerDefinition,
  type Manager,
  type ManagerOptions,
} from "@setpoint/runtime";
import { Lease } from "./lease.ts";
import { Candy, Fleet, isLeaseRequest, isWrite, type Arrival, type FleetProcess } from "../manager/fleet.fixture.ts";

/** What the reconcile notes in the status: who ran in which epoch. */
export interface Signature {
  readonly by: string;
  readonly epoch: number;
}

export interface Life {
  readonly process: FleetProcess;
  readonly manager: Manager;
}

/** Times short of the defaults, so that a thousand deaths take hours and not days of virtual time. */
export const times = { leaseDurationSeconds: 5, renewDeadlineSeconds: 3, retryPeriodSeconds: 1 };

export class OwnersWorld {
  readonly fleet: Fleet;
  readonly violations: string[] = [];
  readonly lives: Life[] = [];
  writeCount = 0;
  runCount = 0;
  readonly #random: Random;
  readonly #candies: readonly string[];
  readonly #optionsOf: (process: FleetProcess) => Partial<ManagerOptions>;
  readonly #lastWrite = new Map<string, Signature>();
  readonly #owners = new Map<string, string>();
  /** Who wrote before whom, where one process at a time writes: nobody comes back. */
  readonly #former = new Set<string>();
  readonly #isExclusive: boolean;
  #writer = "";
  #born = 0;
  #turn = 0;

  constructor(
    seed: number,
    candyCount: number,
    isExclusive: boolean,
    optionsOf: (process: FleetProcess) => Partial<ManagerOptions>,
  ) {
    this.fleet = new Fleet(seed);
    this.#random = this.fleet.host.random;
    this.#candies = Array.from({ length: candyCount }, (_, i) => `candy-${i}`);
    this.#isExclusive = isExclusive;
    this.#optionsOf = optionsOf;
    this.fleet.onArrival = (arrival) => this.#audit(arrival);
  }

  async createCandies(): Promise<void> {
    for (const name of this.#candies)
      await this.fleet.wait(
        this.fleet.client.create(Candy, Candy({ name, namespace: "default", spec: { flavors: [], turn: 0 } })),
      );
  }

  /** Starts a process whose clock is up to a tenth wrong. */
  start(): Life {
    const process = this.fleet.process(`p${++this.#born}`, 0.9 + this.#random.next() * 0.2);
    // Most requests are quick; some are nearly as slow as the margin of the lease allows.
    process.latencyMs = () => (this.#random.next() < 0.05 ? this.#random.int(800) : this.#random.int(20));
    const { transport, host } = process;
    const controllers = [this.#controller(process)];
    const manager = startManager({ transport, host, controllers, shutdownMsMax: 2_000, ...this.#optionsOf(process) });
    const life = { process, manager };
    this.lives.push(life);
    return life;
  }

  kill({ process }: Life): void {
    process.kill();
    this.#drop(process);
  }

  /** As a rollout does it. */
  stop({ process, manager }: Life): void {
    void manager.stop().then(() => process.kill());
    this.#drop(process);
  }

  /** Forgets processes that have ended by themselves, which a real one would by exiting. */
  reap(): void {
    for (const { process, manager } of [...this.lives])
      if (!manager.healthz().ok) {
        process.kill();
        this.#drop(process);
      }
  }

  /** A user changes some objects. */
  async change(count: number): Promise<void> {
    this.#turn++;
    for (let i = 0; i < count; i++) {
      const name = this.#candies[this.#random.int(this.#candies.length)] ?? "";
      const key = { name, namespace: "default" };
      await this.fleet.wait(this.fleet.client.patch(Candy, key, { spec: { turn: this.#turn } }));
    }
  }

  /** A user deletes a Lease that he does not know: the one of the group's name. */
  async deleteRecord(): Promise<void> {
    if (this.#isExclusive) return;
    const key = { name: "candies", namespace: "default" };
    await this.fleet.wait(this.fleet.client.delete(Lease, key).catch(() => {}));
  }

  /** A user edits a Lease that he does not know. */
  async spoilRecord(): Promise<void> {
    if (this.#isExclusive) return;
    const key = { name: "candies", namespace: "default" };
    const annotations = { "setpoint.dev/shard-epochs": this.#random.next() < 0.5 ? null : "[[" };
    await this.fleet.wait(this.fleet.client.patch(Lease, key, { metadata: { annotations } }).catch(() => {}));
  }

  /** The objects whose last change nobody has worked on. */
  async behind(): Promise<readonly string[]> {
    const { items } = await this.fleet.wait(this.fleet.client.listAll(Candy));
    return items.filter(({ spec, status }) => spec.turn !== status?.turn).map(({ metadata }) => metadata.name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { process } of this.lives) process.kill();
    await this.fleet[Symbol.asyncDispose]();
  }

  #drop(process: FleetProcess): void {
    const index = this.lives.findIndex((life) => life.process === process);
    if (index >= 0) this.lives.splice(index, 1);
  }

  #controller(process: FleetProcess): ControllerDefinition {
    const epochOf = (): number => this.lives.find((life) => life.process === process)?.manager.shard()?.epoch ?? 0;
    return controller(Candy, {
      reconcile: async (candy, { status, host: { clock }, requeueAfter, awaitChange }) => {
        const epoch = epochOf();
        this.#noteRun(candy.metadata.name, { by: process.name, epoch });
        // Some take their time between looking and writing, so that they are caught in the middle.
        const isSlow = this.#random.next() < 0.2;
        if (isSlow) await new Promise<void>((resolve) => void clock.setTimer(resolve, this.#random.int(4_000)));
        const { turn } = candy.spec;
        if (turn !== candy.status?.turn)
          await status({ ...(turn === undefined ? {} : { turn }), by: `${process.name}@${epoch}` });
        return this.#random.next() < 0.05 ? requeueAfter(3_000, "sweets are checked again") : awaitChange();
      },
    });
  }

  #noteRun(name: string, { by, epoch }: Signature): void {
    this.runCount++;
    if (epoch === 0) return;
    const owner = this.#owners.get(`${name}@${epoch}`) ?? by;
    this.#owners.set(`${name}@${epoch}`, owner);
    if (owner !== by) this.violations.push(`${name} was run by ${owner} and by ${by} in epoch ${epoch}`);
  }

  /** What the server sees: who wrote what, in the order of arrival. */
  #audit({ process, request, atMs }: Arrival): void {
    if (!isWrite(request) || isLeaseRequest(request) || !request.path.includes("/candies/")) return;
    this.writeCount++;
    const key = /candies\/([^/]+)/.exec(request.path)?.[1] ?? "";
    const { status } = request.body as { readonly status?: { readonly by?: string } };
    const [by = "", epochText] = (status?.by ?? "").split("@");
    const epoch = Number(epochText);
    if (by !== process.name) this.violations.push(`${process.name} sent the write of ${by}`);
    if (this.#isExclusive) return this.#auditExclusive(process.name, atMs);
    const last = this.#lastWrite.get(key) ?? { by, epoch };
    if (epoch < last.epoch)
      this.violations.push(
        `${by} wrote ${key} in epoch ${epoch} after ${last.by} in epoch ${last.epoch}, at ${atMs} ms`,
      );
    if (epoch === last.epoch && by !== last.by)
      this.violations.push(`${by} and ${last.by} wrote ${key} in epoch ${epoch}, at ${atMs} ms`);
    if (epoch >= last.epoch) this.#lastWrite.set(key, { by, epoch });
  }

  #auditExclusive(name: string, atMs: number): void {
    if (this.#former.has(name))
      this.violations.push(`${name} wrote after ${this.#writer} had taken over, at ${atMs} ms`);
    if (this.#writer !== name) this.#former.add(this.#writer);
    this.#writer = name;
  }
}

/** Lets one process die, stop or hang, as the seed will have it; says whether it is gone. */
export function strike(world: OwnersWorld): boolean {
  const { random } = world.fleet.host;
  const life = world.lives[random.int(world.lives.length)];
  if (life === undefined) return false;
  const fate = random.int(10);
  if (fate < 5) world.kill(life);
  else if (fate < 7) world.stop(life);
  // Up to three leases long, so that some come back deposed.
  else life.process.pause(1_000 + random.int(14_000));
  return fate < 7;
}
