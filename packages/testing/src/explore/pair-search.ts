/** Which pairs of faults run, and in which order. */
import { createHash } from "node:crypto";
import { seededRandom } from "@setpoint/host/simulated";
import { type Fault, siteName } from "../faults/fault.ts";
import type { Explored } from "./explored.ts";
import type { PairCounts } from "./exploration.ts";
import { faultMenu } from "./fault-menu.ts";
import type { RunReport } from "./run-schedule.ts";
import { cellOf, interleaved, takingTurns } from "./schedule-plan.ts";

export interface PairSearchOptions {
  readonly seed: number;
  /** All threads run the same first faults, and share the second ones. */
  readonly shard: { readonly index: number; readonly of: number };
  readonly pairsMax: number;
  isOver(): boolean;
  isDone(name: string): boolean;
  done(name: string): void;
  /** The run of a first fault, which has the state of the world at each site. */
  alone(explored: Explored, fault: Fault): Promise<RunReport>;
  together(explored: Explored, faults: readonly [Fault, Fault], name: string): Promise<RunReport>;
}

interface First {
  readonly explored: Explored;
  readonly fault: Fault;
  /** Its name in `onDone`, when every second fault ran. */
  readonly name: string;
}

/**
 * How long the pairs of a first fault run before the next one has its turn. An exploration that ends early
 * has then tried some of each.
 */
const atOnce = 32;
const hashLength = 12;

/**
 * After each single fault, each fault at each later site. A second fault that strikes a known state of the
 * world in the same way is skipped, whichever fault led there. Two faults are never tried in both orders.
 */
export class PairSearch {
  readonly #options: PairSearchOptions;
  readonly #firsts: readonly First[];
  readonly #seen = new Set<string>();
  /** First faults with a pair that breaks a rule: the next exploration runs them again. */
  readonly #broken = new Set<string>();
  #run = 0;
  #skipped = 0;
  #done = 0;

  constructor(all: readonly Explored[], options: PairSearchOptions) {
    this.#options = options;
    this.#firsts = takingTurns(
      all.map((explored) =>
        interleaved(explored.firsts, seededRandom(options.seed)).map((fault) => ({
          explored,
          fault,
          name: `${explored.story.name} pairs of ${cellOf(fault)}`,
        })),
      ),
    );
  }

  async run(): Promise<PairCounts> {
    let open: readonly First[] = this.#firsts.filter(({ name }) => !this.#options.isDone(name));
    this.#done = this.#firsts.length - open.length;
    while (open.length > 0 && !this.#isOver) open = await this.#round(open);
    return { run: this.#run, skipped: this.#skipped, firsts: this.#firsts.length, firstsDone: this.#done };
  }

  get #isOver(): boolean {
    return this.#run >= this.#options.pairsMax || this.#options.isOver();
  }

  /** Runs each first fault for some seconds, and returns those that are not done. */
  async #round(open: readonly First[]): Promise<readonly First[]> {
    const left: First[] = [];
    for (const first of open) {
      if (this.#isOver) return left;
      if (!(await this.#follow(first))) left.push(first);
      else {
        this.#done++;
        if (!this.#broken.has(first.name)) this.#options.done(first.name);
      }
    }
    return left;
  }

  /** Whether every second fault ran. */
  async #follow(first: First): Promise<boolean> {
    const { explored, fault } = first;
    const single = await this.#options.alone(explored, fault);
    const all = this.#seconds(single, first);
    const fresh = all.filter(({ name }) => !this.#seen.has(name) && !this.#options.isDone(name));
    for (const { second, name } of fresh.slice(0, atOnce)) {
      if (this.#isOver) return false;
      this.#run++;
      this.#seen.add(name);
      const { broken } = await this.#options.together(explored, [fault, second], name);
      if (broken.length > 0) this.#broken.add(first.name);
    }
    if (fresh.length > atOnce) return false;
    this.#skipped += all.length - fresh.length;
    return true;
  }

  /**
   * The faults that may strike after the first one, once for each state of the world, and only this thread's
   * share.
   */
  #seconds(single: RunReport, { explored }: First): readonly { readonly second: Fault; readonly name: string }[] {
    const { seed, shard } = this.#options;
    const fromMs = single.struck[0]?.atMs ?? Infinity;
    const later = <T extends { readonly atMs: number }>(sites: readonly T[]): readonly T[] =>
      sites.filter(({ atMs }) => atMs >= fromMs);
    const states = new Map([...single.writes, ...single.events].map(({ site, state = "" }) => [siteName(site), state]));
    const all = new Map<string, Fault>();
    for (const second of faultMenu(later(single.writes), later(single.events), explored.menu)) {
      const { at } = second;
      const what = `${explored.story.name} ${states.get(siteName(at)) ?? ""} ${shapeOf(at)} ${sortOf(second)}`;
      const hash = createHash("sha256").update(what).digest();
      const name = `${explored.story.name} pair ${hash.toString("base64url").slice(0, hashLength)}`;
      if (hash.readUInt16BE(0) % shard.of === shard.index && !all.has(name)) all.set(name, second);
    }
    const named = new Map([...all].map(([name, second]) => [second, name]));
    return interleaved([...all.values()], seededRandom(seed)).map((second) => ({
      second,
      name: named.get(second) ?? "",
    }));
  }
}

/** A site without its number: the request or the event. */
function shapeOf(at: Fault["at"]): string {
  if ("atMs" in at) return `${at.atMs}`;
  return "write" in at ? at.write : at.event;
}

/** A kind and its object; other details take turns. */
function sortOf(fault: Fault): string {
  if (fault.kind === "E1") return `E1 ${fault.child.resource}`;
  return fault.kind === "E2" ? `E2 ${fault.child.resource} ${fault.own} ${fault.of ?? ""}` : fault.kind;
}
