/**
 * An operator over days of virtual time: random changes, cut and silent watches, restarts; and every day an
 * hour of rest.
 */
import { silentLogger } from "@setpoint/host";
import { simulatedHost } from "@setpoint/host/simulated";
import { controller, startManager, type Manager } from "@setpoint/runtime";
import { Candy, Fleet, isLeaseRequest, isWrite, Wrapper, type FleetProcess } from "./fleet.fixture.ts";

export interface SoakOptions {
  readonly seed: number;
  readonly days: number;
  readonly objects: number;
  /** How often a user changes, creates or deletes an object, on average. */
  readonly changeEveryMs: number;
  /** Bytes of the heap that are in use after a full collection. */
  heapBytes(): number;
}

export interface SoakDay {
  readonly day: number;
  readonly heapBytes: number;
  readonly changes: number;
  readonly writes: number;
  /** Writes in the hour of rest, after what was left to do has been done. */
  readonly writesAtRest: number;
  readonly isQuiet: boolean;
  readonly isReady: boolean;
  /** Objects of which the cache shows another state than the server. */
  readonly staleObjects: number;
  /** Objects that are not as their spec wants them. */
  readonly unfinished: number;
  readonly restarts: number;
  readonly cuts: number;
  readonly silences: number;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** How often trouble comes, on average. */
const cutEveryMs = 20 * minuteMs;
const silenceEveryMs = 6 * hourMs;
const restartEveryMs = 2 * hourMs;
/** What is left to do before the rest is looked at: two watchdogs of a silent watch, and a lease. */
const calmMs = 12 * minuteMs;

const wrap = controller(Candy, {
  owns: { wrappers: Wrapper },
  desired: (object, { wrappers }) => ({
    children: object.spec.flavors.map((flavor) =>
      Wrapper({ name: `${object.metadata.name}-${flavor}`, data: { flavor } }),
    ),
    status: { wrappers: wrappers.length, turn: object.spec.turn ?? 0 },
  }),
});

class SoakWorld {
  readonly fleet: Fleet;
  readonly #options: SoakOptions;
  readonly #names: string[] = [];
  #process: FleetProcess | undefined;
  #manager: Manager | undefined;
  #born = 0;
  #turn = 0;
  changes = 0;
  writes = 0;
  restarts = 0;
  cuts = 0;
  silences = 0;

  constructor(options: SoakOptions) {
    this.#options = options;
    this.fleet = new Fleet(options.seed, { ...simulatedHost(options.seed), log: silentLogger });
    this.fleet.onArrival = ({ request, process }) => {
      if (process === this.#process && isWrite(request) && !isLeaseRequest(request)) this.writes++;
    };
  }

  get manager(): Manager {
    if (this.#manager === undefined) throw new Error("the operator has not been started");
    return this.#manager;
  }

  async populate(): Promise<void> {
    for (let i = 0; i < this.#options.objects; i++) await this.#create();
  }

  start(): void {
    const process = this.fleet.process(`operator-${++this.#born}`);
    const { transport, host } = process;
    this.#process = process;
    this.#manager = startManager({
      ...{ transport, host, controllers: [wrap] },
      leaderElection: { name: "candies", namespace: "default", identity: process.name },
    });
  }

  /**
   * One day: 23 hours of trouble, one of rest. Restarts in the first half only, so that the heaps of equally
   * old processes compare.
   */
  async live(day: number): Promise<SoakDay> {
    const { random } = this.fleet.host;
    const endMs = this.fleet.host.clock.monotonic() + dayMs - hourMs;
    this.changes = this.writes = this.restarts = this.cuts = this.silences = 0;
    const { changeEveryMs } = this.#options;
    while (this.fleet.host.clock.monotonic() < endMs) {
      const waitMs = 1 + random.int(2 * changeEveryMs);
      await this.fleet.run(waitMs);
      await this.#change();
      await this.#trouble(waitMs, this.fleet.host.clock.monotonic() < endMs - dayMs / 2);
    }
    return this.#rest(day);
  }

  async stop(): Promise<void> {
    await this.fleet.wait(this.manager.stop());
    await this.fleet[Symbol.asyncDispose]();
  }

  async #rest(day: number): Promise<SoakDay> {
    await this.fleet.run(calmMs);
    const before = this.writes;
    await this.fleet.run(hourMs - calmMs);
    const writesAtRest = this.writes - before;
    const { items } = await this.fleet.wait(this.fleet.client.listAll(Candy));
    const cached = new Map(
      this.manager.informers.informers
        .filter(({ kind }) => kind.plural === Candy.plural)
        .flatMap(({ store }) => [...store.values()])
        .map(({ metadata }) => [metadata.name, metadata.resourceVersion]),
    );
    const stale = items.filter(({ metadata }) => cached.get(metadata.name) !== metadata.resourceVersion).length;
    const { changes, writes, restarts, cuts, silences } = this;
    return {
      ...{ day, changes, writes, writesAtRest, restarts, cuts, silences },
      isQuiet: this.manager.isQuiet(),
      isReady: this.manager.readyz().ok,
      staleObjects: stale + Math.abs(cached.size - items.length),
      unfinished: items.filter(({ spec, status }) => status?.wrappers !== 1 || status.turn !== spec.turn).length,
      heapBytes: this.#options.heapBytes(),
    };
  }

  async #change(): Promise<void> {
    const { random } = this.fleet.host;
    const index = random.int(this.#names.length);
    const key = { name: this.#names[index] ?? "", namespace: "default" };
    this.changes++;
    if (random.int(20) === 0) {
      await this.fleet.wait(this.fleet.client.delete(Candy, key));
      // There is no garbage collector here.
      for (const flavor of ["mint", "lime"])
        await this.fleet.wait(
          this.fleet.client.delete(Wrapper, { ...key, name: `${key.name}-${flavor}` }).catch(() => {}),
        );
      this.#names.splice(index, 1);
      return this.#create();
    }
    const spec = { turn: ++this.#turn, flavors: [random.int(2) === 0 ? "mint" : "lime"] };
    await this.fleet.wait(this.fleet.client.patch(Candy, key, { spec }));
  }

  async #create(): Promise<void> {
    const name = `candy-${String(++this.#born).padStart(7, "0")}`;
    this.#names.push(name);
    const candy = Candy({ name, namespace: "default", spec: { flavors: ["mint"], turn: 0 } });
    await this.fleet.wait(this.fleet.client.create(Candy, candy));
  }

  /** What has come to happen in so many milliseconds. */
  async #trouble(ms: number, mayRestart: boolean): Promise<void> {
    const { random } = this.fleet.host;
    if (random.next() < ms / cutEveryMs) {
      this.cuts++;
      this.#process?.cutWatches();
    }
    if (random.next() < ms / silenceEveryMs) {
      this.silences++;
      this.#process?.muteWatches();
    }
    if (random.next() >= ms / restartEveryMs || !mayRestart) return;
    this.restarts++;
    if (random.int(2) === 0) this.#process?.kill();
    else await this.fleet.wait(this.manager.stop());
    this.start();
  }
}

/** Lives the days one after another and tells of each. */
export async function* soak(options: SoakOptions): AsyncGenerator<SoakDay> {
  const world = new SoakWorld(options);
  await world.populate();
  world.start();
  for (let day = 1; day <= options.days; day++) yield await world.live(day);
  await world.stop();
}
