/** Runs stories under every single fault, then under pairs and swarms of them, for as long as it is given. */
import { encodeJson, SetpointError } from "@setpoint/apimachinery";
import type { Clock } from "@setpoint/host";
import { seededRandom } from "@setpoint/host/simulated";
import { systemClock } from "@setpoint/host/system";
import type { Fault } from "../faults/fault.ts";
import { allOracles } from "../oracles/all-oracles.ts";
import type { BrokenRule, Oracle, Reference } from "../oracles/oracle.ts";
import type { KindCoverage } from "./coverage.ts";
import { chancePaths } from "../oracles/end-state.ts";
import { faultMenu, type MenuOptions, placedKinds } from "./fault-menu.ts";
import { type RunReport, runSchedule, type Schedule } from "./run-schedule.ts";
import { cellOf, interleaved, swarmOf, takingTurns } from "./schedule-plan.ts";
import type { Explored } from "./explored.ts";
import type { Exploration, ExploreOptions, Failure, PairCounts } from "./exploration.ts";
import { PairSearch } from "./pair-search.ts";
import { sentencePattern, shrink } from "./shrink.ts";
import { describeStep, givenSteps, settingOf, type Story, type StoryStep, storyOf } from "./story.ts";

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

/** Runs the stories under faults, each alone first, and shrinks each schedule that breaks a rule. */
export function explore(options: ExploreOptions): Promise<Exploration> {
  if (typeof options.seed !== "number" || !Number.isSafeInteger(options.seed))
    throw new SetpointError(
      "ERR_NO_SEED",
      `Cannot explore: the seed is ${String(options.seed)}, and everything follows from it; pass a whole number as \`seed\``,
    );
  if (options.worlds.length === 0)
    throw new SetpointError("ERR_NO_WORLD", "Cannot explore: `worlds` is empty; pass at least one object or story");
  const unknown = options.faults?.find((kind) => !placedKinds.includes(kind));
  if (unknown !== undefined)
    throw new SetpointError(
      "ERR_FAULT_NOT_EXPLORED",
      `Cannot explore with the fault "${unknown}": expected one of ${placedKinds.join(", ")}; ` +
        "E3, E4 and E10 strike in `simulate({ faults })` only",
    );
  return new Explorer(options).run();
}

interface RunNeeds {
  readonly reference?: Reference | undefined;
  readonly quietMs?: number | undefined;
  readonly namesStates?: boolean;
}

class Explorer {
  readonly #options: ExploreOptions;
  readonly #oracles: readonly Oracle[];
  readonly #clock: Clock;
  readonly #startedMs: number;
  readonly #failures: Failure[] = [];
  readonly #stories: Story[] = [];
  #schedules = 0;
  #pairs: PairCounts = { run: 0, skipped: 0, firsts: 0, firstsDone: 0 };

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
    if (this.#options.singles ?? true) await this.#singles(explored);
    await this.#runPairs(explored);
    await this.#runSwarm(explored.filter(({ faults }) => faults.length > 0));
    const coverage = explored.map(({ story, counts }) => ({ story: story.name, kinds: kindsOf(counts) }));
    return {
      schedules: this.#schedules,
      failures: this.#failures,
      coverage,
      pairs: this.#pairs,
      isComplete: !this.#isOver && explored.length === this.#options.worlds.length,
      tookMs: this.#clock.monotonic() - this.#startedMs,
    };
  }

  get #isOver(): boolean {
    return this.#failures.length >= (this.#options.failuresMax ?? failuresDefault) || this.#isLate;
  }

  get #isLate(): boolean {
    return this.#clock.monotonic() - this.#startedMs >= (this.#options.seconds ?? Infinity) * 1_000;
  }

  /** The runs without faults, and what could strike them; undefined when they break a rule already. */
  async #reference(story: Story): Promise<Explored | undefined> {
    const { seed, quietMs, subject, flips = [], faults: kinds, mayDiffer = [], shard = { index: 0 } } = this.#options;
    const first = await this.#run({ seed, story, faults: [] });
    if (first.broken.length > 0) return void (await this.#fail(first, undefined, story.name));
    const again = await this.#run({ seed, story, faults: [] });
    if (again.traceHash !== first.traceHash) return void this.#notDeterministic(first);
    const others = [];
    for (let run = 1; run <= chanceRuns; run++) {
      // Once is enough: what looks again every hour does so in every world.
      const restsLong = run === 1 && this.#schedules <= firstRuns && shard.index === 0;
      const restMs = restsLong ? (quietMs ?? dayMs) : undefined;
      const other = await this.#run({ seed: seed + run, story, faults: [] }, { quietMs: restMs });
      if (other.broken.length > 0) return void (await this.#fail(other, undefined, story.name));
      others.push(other);
    }
    const chance = new Set([...chancePaths([first, ...others].map(({ end }) => end.state)), ...mayDiffer]);
    const { nodes = nodesDefault } = settingOf(subject);
    const menu: MenuOptions = {
      ...(kinds === undefined ? {} : { kinds }),
      owned: first.owned,
      read: first.read,
      hasPods: first.owned.some(({ plural }) => plural === "pods"),
      flips,
      nodes,
      isThorough: this.#options.thorough ?? false,
    };
    // What begins like an earlier story, or with given steps, needs to be struck only where it goes on
    // otherwise: up to there both are the same run.
    const fromMs = first.stepsMs[Math.max(givenSteps(story), this.#sharedSteps(story))] ?? Infinity;
    const isNew = ({ atMs }: { readonly atMs: number }): boolean => atMs >= fromMs;
    const menuOf = (each: MenuOptions): readonly Fault[] =>
      faultMenu(first.writes.filter(isNew), first.events.filter(isNew), each);
    const faults = menuOf(menu);
    this.#stories.push(story);
    const counts: Explored["counts"] = new Map();
    for (const { kind } of faults) {
      const { cells = 0 } = counts.get(kind) ?? {};
      counts.set(kind, { cells: cells + 1, visited: 0, struck: 0, failed: 0 });
    }
    const brief = { ...menu, isThorough: false };
    return { story, reference: { ...first.end, chance }, menu: brief, faults, firsts: menuOf(brief), counts };
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

  /** Stories take turns, so that an exploration that ends early has struck each of them. */
  async #singles(explored: readonly Explored[]): Promise<void> {
    const { seed, shard = { index: 0, of: 1 } } = this.#options;
    const rows = explored.map((each) =>
      interleaved(each.faults, seededRandom(seed))
        .filter((_, index) => index % shard.of === shard.index)
        .map((fault) => ({ each, fault })),
    );
    for (const { each, fault } of takingTurns(rows)) {
      if (this.#isOver) return;
      await this.#single(fault, each);
    }
  }

  async #single(fault: Fault, explored: Explored): Promise<void> {
    const count = explored.counts.get(fault.kind);
    if (count === undefined) return;
    count.visited++;
    const name = `${explored.story.name} ${cellOf(fault)}`;
    if (this.#isDone(name)) return;
    const report = await this.#judged([fault], explored, { seed: this.#options.seed, cell: cellOf(fault), name });
    if (report.struck.length > 0) count.struck++;
    if (report.broken.length > 0) count.failed++;
  }

  async #runPairs(explored: readonly Explored[]): Promise<void> {
    const { seed, pairs = 0, shard = { index: 0, of: 1 } } = this.#options;
    if (pairs === 0 || this.#isOver) return;
    const search = new PairSearch(explored, {
      seed,
      shard,
      pairsMax: Math.ceil(pairs / shard.of),
      isOver: () => this.#isOver,
      isDone: (name) => this.#isDone(name),
      done: (name) => this.#options.onDone?.(name),
      alone: ({ story, reference }, fault) =>
        this.#run({ seed, story, faults: [fault] }, { reference, namesStates: true }),
      together: (each, faults, name) =>
        this.#judged(faults, each, { seed, cell: faults.map(cellOf).join(" + "), name }),
    });
    this.#pairs = await search.run();
  }

  /** Random schedules, each from its own seed, so that a run can be had again. */
  async #runSwarm(explored: readonly Explored[]): Promise<void> {
    const { seed, swarm = 0, shard = { index: 0, of: 1 } } = this.#options;
    for (let place = 0; place < swarm; place++) {
      const each = explored[place % explored.length];
      const number = Math.floor(place / explored.length);
      if (each === undefined || this.#isOver) return;
      const name = `${each.story.name} swarm ${number}`;
      if (number % shard.of !== shard.index || this.#isDone(name)) continue;
      const faults = swarmOf(each.faults, seededRandom(seed + 1 + number), swarmFaultsMax);
      await this.#judged(faults, each, { seed: seed + number, cell: `swarm ${number}`, name });
    }
  }

  #isDone(name: string): boolean {
    return this.#options.visited?.has(name) === true;
  }

  async #judged(
    faults: readonly Fault[],
    { reference, story }: Explored,
    { seed, cell, name }: { readonly seed: number; readonly cell: string; readonly name: string },
  ): Promise<RunReport> {
    const report = await this.#run({ seed, story, faults }, { reference });
    if (report.broken.length === 0) this.#options.onDone?.(name);
    this.#options.onRun?.({ story: story.name, cell, broken: report.broken });
    if (report.broken.length > 0) await this.#fail(report, reference, name);
    return report;
  }

  #run(schedule: Schedule, { reference, quietMs, namesStates = false }: RunNeeds = {}): Promise<RunReport> {
    this.#schedules++;
    this.#options.onBegin?.();
    return runSchedule(this.#options.subject, schedule, {
      oracles: this.#oracles,
      withinMs: this.#options.withinMs ?? withinDefaultMs,
      quietMs: quietMs ?? this.#options.quietMs ?? quietDefaultMs,
      ...(reference === undefined ? {} : { reference }),
      namesStates,
    });
  }

  async #fail(report: RunReport, reference: Reference | undefined, name: string): Promise<void> {
    const [rule] = report.broken;
    if (rule === undefined) return;
    const known = this.#failures.find((each) => isAlike(each, report, rule));
    if (known !== undefined) return void known.alike++;
    const smallest = await shrink(report, {
      oracle: rule.oracle,
      runsMax: shrinkRunsMax,
      isOver: () => this.#isLate,
      run: (schedule, like) => {
        const known = like === undefined ? reference : { ...like.end, chance: reference?.chance ?? new Set<string>() };
        return this.#run(schedule, { reference: known });
      },
    });
    const broken = smallest.broken.find(({ oracle }) => oracle === rule.oracle) ?? rule;
    const faultsBefore = report.schedule.faults.length;
    const failure: Failure = {
      report: smallest,
      rule: broken,
      faultsBefore,
      alike: 1,
      sentence: sentencePattern(rule),
    };
    this.#failures.push(failure);
    this.#options.onFailure?.(failure, name);
  }

  #notDeterministic(report: RunReport): void {
    const sentence =
      "two runs from the same seed differ: something depends on real time, real chance, or on memory that outlives a run";
    const rule = { oracle: "repeats", sentence, atMs: 0 };
    const failure: Failure = { report, rule, faultsBefore: 0, alike: 1, sentence };
    this.#failures.push(failure);
    this.#options.onFailure?.(failure, report.schedule.story.name);
  }
}

/** Equal for equal steps. */
function stepText(step: StoryStep): string {
  return `${describeStep(step)} ${step.kind === "apply" ? encodeJson(step.object) : ""}`;
}

/** The same rule, broken in the same words or by the same kinds of faults in the same story. */
function isAlike({ rule, report: known, sentence }: Failure, report: RunReport, broken: BrokenRule): boolean {
  const kinds = ({ schedule }: RunReport): string => schedule.faults.map(({ kind }) => kind).join();
  return (
    rule.oracle === broken.oracle &&
    known.schedule.story.name === report.schedule.story.name &&
    (kinds(known) === kinds(report) || sentence === sentencePattern(broken))
  );
}

function kindsOf(counts: Explored["counts"]): readonly KindCoverage[] {
  return [...counts].map(([kind, count]) => ({ kind, ...count }));
}
