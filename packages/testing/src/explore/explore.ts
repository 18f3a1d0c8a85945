/** Runs stories under every single fault, then under pairs and swarms of them, for as long as it is given. */
import { SetpointError } from "@setpoint/apimachinery";
import type { Clock } from "@setpoint/host";
import { seededRandom } from "@setpoint/host/simulated";
import { systemClock } from "@setpoint/host/system";
import { type Fault, type FaultKind, siteName } from "../faults/fault.ts";
import { allOracles } from "../oracles/all-oracles.ts";
import type { BrokenRule, Oracle, Reference } from "../oracles/oracle.ts";
import type { KindCoverage, StoryCoverage } from "./coverage.ts";
import { chancePaths } from "./end-state.ts";
import { faultMenu, type MenuOptions } from "./fault-menu.ts";
import { type RunReport, runSchedule, type Schedule } from "./run-schedule.ts";
import { cellOf, interleaved, swarmOf } from "./schedule-plan.ts";
import { shrink } from "./shrink.ts";
import { describeStep, settingOf, type Story, type StoryInit, type StoryStep, storyOf, type Subject } from "./story.ts";

export interface ExploreOptions {
  /** What is explored: an operator, or what makes a setting anew for each run. */
  readonly subject: Subject;
  readonly worlds: readonly StoryInit[];
  /** Everything follows from it. */
  readonly seed: number;
  /** Real time after which no new run begins; default: none. */
  readonly seconds?: number;
  /** Which faults strike; default: all that a conforming cluster may show. */
  readonly faults?: readonly FaultKind[];
  /** Default: `allOracles`. The setting's own are always asked too. */
  readonly oracles?: readonly Oracle[];
  /** So many pairs of faults at most, after all single ones; those that lead to nothing new are not counted. Default 0. */
  readonly pairs?: number;
  /** Random schedules with several faults for each world, after that; default 0. */
  readonly swarm?: number;
  /** The number of the first of them, so that another exploration goes on where one has ended; default 0. */
  readonly swarmFrom?: number;
  /** How long a world may take to settle, in milliseconds of virtual time; default five minutes. */
  readonly withinMs?: number;
  /** How long it must be quiet after each run; default three minutes. The first world must be quiet for a day without faults. */
  readonly quietMs?: number;
  /** Every detail of every kind at every site (each status of B5, each child of E1), instead of one after the other. */
  readonly thorough?: boolean;
  /** Changes of the spec that are made and taken back at each step (E6). */
  readonly flips?: readonly Readonly<Record<string, unknown>>[];
  /** Fields that may end otherwise than without faults, as `Pod.spec.containers.*.args`; `*` is any element of a list. */
  readonly mayDiffer?: readonly string[];
  /** Different failures after which it ends; default 3. */
  readonly failuresMax?: number;
  /** Of all schedules, only each `of`-th from `index` on: for several processes. */
  readonly shard?: { readonly index: number; readonly of: number };
  /** Cells that need not be visited again. */
  readonly visited?: ReadonlySet<string>;
  /** Called after each run. */
  readonly onRun?: (run: FinishedRun) => void;
  /** Only for the time budget. */
  readonly clock?: Clock;
}

export interface FinishedRun {
  readonly story: string;
  readonly cell: string;
  readonly broken: readonly BrokenRule[];
}

export interface Failure {
  /** The smallest schedule that still breaks the rule. */
  readonly report: RunReport;
  readonly rule: BrokenRule;
  /** Faults before shrinking. */
  readonly faultsBefore: number;
  /** Runs that broke the same rule in the same way. */
  alike: number;
}

export interface Exploration {
  readonly schedules: number;
  readonly failures: readonly Failure[];
  readonly coverage: readonly StoryCoverage[];
  /** Pairs that were run, and pairs that would have led to a state that was seen before. */
  readonly pairs: { readonly run: number; readonly skipped: number };
  /** Whether everything that was asked for was run, and nothing was cut off by the time. */
  readonly isComplete: boolean;
  /** Real time, in milliseconds. */
  readonly tookMs: number;
}

const withinDefaultMs = 300_000;
const quietDefaultMs = 180_000;
const dayMs = 86_400_000;
const failuresDefault = 3;
const nodesDefault = 3;
const shrinkRunsMax = 60;
const swarmFaultsMax = 6;
/** The first story and its repetition. */
const firstRuns = 2;
/** Runs without faults from other seeds, which show what is chance. */
const chanceRuns = 2;

export function explore(options: ExploreOptions): Promise<Exploration> {
  if (typeof options.seed !== "number" || !Number.isSafeInteger(options.seed))
    throw new SetpointError(
      "ERR_NO_SEED",
      `Cannot explore: the seed is ${String(options.seed)}, and everything follows from it; pass a whole number as \`seed\``,
    );
  if (options.worlds.length === 0)
    throw new SetpointError("ERR_NO_WORLD", "Cannot explore: `worlds` is empty; pass at least one object or story");
  return new Explorer(options).run();
}

interface Explored {
  readonly story: Story;
  readonly reference: Reference;
  readonly menu: MenuOptions;
  readonly faults: readonly Fault[];
  readonly counts: Map<FaultKind, { cells: number; visited: number; struck: number; failed: number }>;
}

class Explorer {
  readonly #options: ExploreOptions;
  readonly #oracles: readonly Oracle[];
  readonly #clock: Clock;
  readonly #startedMs: number;
  readonly #failures: Failure[] = [];
  readonly #stories: Story[] = [];
  #schedules = 0;
  #pairsRun = 0;
  #pairsSkipped = 0;

  constructor(options: ExploreOptions) {
    this.#options = options;
    this.#oracles = options.oracles ?? allOracles;
    this.#clock = options.clock ?? systemClock;
    this.#startedMs = this.#clock.monotonic();
  }

  async run(): Promise<Exploration> {
    const explored: Explored[] = [];
    for (const init of this.#options.worlds) {
      const each = await this.#reference(storyOf(init));
      if (each !== undefined) explored.push(each);
    }
    for (const each of explored) await this.#singles(each);
    for (const each of explored) await this.#pairs(each);
    for (const each of explored) await this.#swarm(each);
    const coverage = explored.map(({ story, counts }) => ({ story: story.name, kinds: kindsOf(counts) }));
    return {
      schedules: this.#schedules,
      failures: this.#failures,
      coverage,
      pairs: { run: this.#pairsRun, skipped: this.#pairsSkipped },
      isComplete: !this.#isOver && explored.length === this.#options.worlds.length,
      tookMs: this.#clock.monotonic() - this.#startedMs,
    };
  }

  get #isOver(): boolean {
    const { seconds = Infinity, failuresMax = failuresDefault } = this.#options;
    return this.#failures.length >= failuresMax || this.#clock.monotonic() - this.#startedMs >= seconds * 1_000;
  }

  /** The runs without faults, and what could strike them; undefined when they break a rule already. */
  async #reference(story: Story): Promise<Explored | undefined> {
    const { seed, quietMs, subject, flips = [], faults: kinds, mayDiffer = [], shard = { index: 0 } } = this.#options;
    const first = await this.#run({ seed, story, faults: [] }, undefined);
    if (first.broken.length > 0) return void (await this.#fail(first, undefined));
    const again = await this.#run({ seed, story, faults: [] }, undefined);
    if (again.traceHash !== first.traceHash) return void this.#notDeterministic(first);
    const others = [];
    for (let run = 1; run <= chanceRuns; run++) {
      // Once is enough: what looks again every hour does so in every world.
      const restsLong = run === 1 && this.#schedules <= firstRuns && shard.index === 0;
      const restMs = restsLong ? (quietMs ?? dayMs) : undefined;
      const other = await this.#run({ seed: seed + run, story, faults: [] }, undefined, restMs);
      if (other.broken.length > 0) return void (await this.#fail(other, undefined));
      others.push(other);
    }
    const chance = new Set([...chancePaths([first, ...others].map(({ end }) => end.state)), ...mayDiffer]);
    const { nodes = nodesDefault } = settingOf(subject);
    const menu: MenuOptions = {
      ...(kinds === undefined ? {} : { kinds }),
      owned: first.owned,
      hasPods: first.owned.some(({ plural }) => plural === "pods"),
      flips,
      nodes,
      isThorough: this.#options.thorough ?? false,
    };
    // What begins like an earlier story needs to be struck only where it goes on otherwise: up to there both are the same run.
    const fromMs = first.stepsMs[this.#sharedSteps(story)] ?? Infinity;
    const isNew = ({ atMs }: { readonly atMs: number }): boolean => atMs >= fromMs;
    const faults = faultMenu(first.writes.filter(isNew), first.events.filter(isNew), menu);
    this.#stories.push(story);
    const counts: Explored["counts"] = new Map();
    for (const { kind } of faults) {
      const { cells = 0 } = counts.get(kind) ?? {};
      counts.set(kind, { cells: cells + 1, visited: 0, struck: 0, failed: 0 });
    }
    return { story, reference: { ...first.end, chance }, menu, faults, counts };
  }

  /** How many steps a story shares with one that is explored already. */
  #sharedSteps({ steps }: Story): number {
    const texts = steps.map(stepText);
    const shared = this.#stories.map((known) => {
      const others = known.steps.map(stepText);
      const differing = texts.findIndex((text, index) => text !== others[index]);
      return differing === -1 ? texts.length : differing;
    });
    return Math.max(0, ...shared);
  }

  async #singles(explored: Explored): Promise<void> {
    const { seed, shard = { index: 0, of: 1 }, visited } = this.#options;
    const order = interleaved(explored.faults, seededRandom(seed));
    for (const [index, fault] of order.entries()) {
      if (this.#isOver) return;
      const count = explored.counts.get(fault.kind);
      if (count === undefined || index % shard.of !== shard.index) continue;
      count.visited++;
      if (visited?.has(`${explored.story.name} ${cellOf(fault)}`) === true) continue;
      const report = await this.#judged({ seed, story: explored.story, faults: [fault] }, explored, cellOf(fault));
      if (report.struck.length > 0) count.struck++;
      if (report.broken.length > 0) count.failed++;
    }
  }

  /**
   * After each single fault, each fault at each site that still comes. A second fault that strikes the same state of the world in the
   * same way has been seen already, whichever fault led there; and two faults are never tried in both orders.
   */
  async #pairs(explored: Explored): Promise<void> {
    const { seed, pairs = 0, shard = { index: 0, of: 1 } } = this.#options;
    const seen = new Set<string>();
    const order = interleaved(explored.faults, seededRandom(seed));
    for (const [index, first] of order.entries()) {
      if (index % shard.of !== shard.index) continue;
      if (this.#isOver || this.#pairsRun >= pairs) return;
      const { story } = explored;
      const single = await this.#run({ seed, story, faults: [first] }, explored.reference, undefined, true);
      for (const second of this.#seconds(single, explored, seen)) {
        if (this.#isOver || this.#pairsRun >= pairs) return;
        this.#pairsRun++;
        const faults = [first, second];
        await this.#judged({ seed, story, faults }, explored, faults.map(cellOf).join(" + "));
      }
    }
  }

  /** What may strike after the first fault, without what leads to nothing new. */
  #seconds(single: RunReport, { menu }: Explored, seen: Set<string>): readonly Fault[] {
    const fromMs = single.struck[0]?.atMs ?? Infinity;
    const later = <T extends { readonly atMs: number }>(sites: readonly T[]): readonly T[] =>
      sites.filter(({ atMs }) => atMs >= fromMs);
    const states = new Map([...single.writes, ...single.events].map(({ site, state = "" }) => [siteName(site), state]));
    const all = faultMenu(later(single.writes), later(single.events), menu);
    return all.filter((fault) => {
      const { at, ...what } = fault;
      const key = `${states.get(siteName(at)) ?? ""} ${shapeOf(at)} ${JSON.stringify(what)}`;
      const isNew = !seen.has(key);
      if (isNew) seen.add(key);
      else this.#pairsSkipped++;
      return isNew;
    });
  }

  /** Random schedules, each from its own seed, so that a run can be had again. */
  async #swarm(explored: Explored): Promise<void> {
    const { seed, swarm = 0, swarmFrom = 0, shard = { index: 0, of: 1 } } = this.#options;
    if (explored.faults.length === 0) return;
    for (let number = swarmFrom + shard.index; number < swarmFrom + swarm; number += shard.of) {
      if (this.#isOver) return;
      const faults = swarmOf(explored.faults, seededRandom(seed + 1 + number), swarmFaultsMax);
      await this.#judged({ seed: seed + number, story: explored.story, faults }, explored, `swarm ${number}`);
    }
  }

  async #judged(schedule: Schedule, { reference, story }: Explored, cell: string): Promise<RunReport> {
    const report = await this.#run(schedule, reference);
    this.#options.onRun?.({ story: story.name, cell, broken: report.broken });
    if (report.broken.length > 0) await this.#fail(report, reference);
    return report;
  }

  #run(
    schedule: Schedule,
    reference: Reference | undefined,
    quietMs?: number,
    namesStates: boolean = false,
  ): Promise<RunReport> {
    this.#schedules++;
    return runSchedule(this.#options.subject, schedule, {
      oracles: this.#oracles,
      withinMs: this.#options.withinMs ?? withinDefaultMs,
      quietMs: quietMs ?? this.#options.quietMs ?? quietDefaultMs,
      ...(reference === undefined ? {} : { reference }),
      namesStates,
    });
  }

  async #fail(report: RunReport, reference: Reference | undefined): Promise<void> {
    const [rule] = report.broken;
    if (rule === undefined) return;
    const known = this.#failures.find((each) => isAlike(each, report, rule));
    if (known !== undefined) return void known.alike++;
    const smallest = await shrink(report, {
      oracle: rule.oracle,
      runsMax: shrinkRunsMax,
      run: (schedule, like) =>
        this.#run(schedule, like === undefined ? reference : { ...like.end, chance: reference?.chance ?? new Set() }),
    });
    const broken = smallest.broken.find(({ oracle }) => oracle === rule.oracle) ?? rule;
    this.#failures.push({ report: smallest, rule: broken, faultsBefore: report.schedule.faults.length, alike: 1 });
  }

  #notDeterministic(report: RunReport): void {
    const sentence =
      "two runs from the same seed differ: something depends on real time, real chance, or on memory that outlives a run";
    const rule = { oracle: "repeats", sentence, atMs: 0 };
    this.#failures.push({ report, rule, faultsBefore: 0, alike: 1 });
  }
}

/** Equal for equal steps. */
function stepText(step: StoryStep): string {
  return `${describeStep(step)} ${step.kind === "apply" ? JSON.stringify(step.object) : ""}`;
}

/** A site without its number: what is asked, or what is seen. */
function shapeOf(at: Fault["at"]): string {
  if ("atMs" in at) return `${at.atMs}`;
  return "write" in at ? at.write : at.event;
}

/** The same rule, broken by the same kinds of faults in the same story. */
function isAlike({ rule, report: known }: Failure, report: RunReport, broken: BrokenRule): boolean {
  const kinds = ({ schedule }: RunReport): string => schedule.faults.map(({ kind }) => kind).join();
  return (
    rule.oracle === broken.oracle &&
    known.schedule.story.name === report.schedule.story.name &&
    (kinds(known) === kinds(report) || report.schedule.faults.length > 1)
  );
}

function kindsOf(counts: Explored["counts"]): readonly KindCoverage[] {
  return [...counts].map(([kind, count]) => ({ kind, ...count }));
}
