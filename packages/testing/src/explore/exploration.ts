/** The options of an exploration, and its result. */
import type { Clock } from "@setpoint/host";
import type { FaultKind } from "../faults/fault.ts";
import type { BrokenRule, Oracle } from "../oracles/oracle.ts";
import type { StoryCoverage } from "./coverage.ts";
import type { RunReport } from "./run-schedule.ts";
import type { StoryInit, Subject } from "./story.ts";

/** What to explore, from which seed, for how long and with which faults. */
export interface ExploreOptions {
  /** What is explored: an operator, or a function that creates a setting for each run. */
  readonly subject: Subject;
  readonly worlds: readonly StoryInit[];
  /** Everything follows from it. */
  readonly seed: number;
  /** Real time after which no new run begins; default: none. */
  readonly seconds?: number;
  /** Which faults strike; default: all that a conforming cluster may show. */
  readonly faults?: readonly FaultKind[];
  /** Default: `allOracles`. The setting's own oracles always judge too. */
  readonly oracles?: readonly Oracle[];
  /** Whether each fault strikes alone first; default true. */
  readonly singles?: boolean;
  /**
   * At most this many pairs of faults, after all single ones; pairs that lead to no new state do not count.
   * Default 0.
   */
  readonly pairs?: number;
  /** This many random schedules with several faults, after that; the worlds take turns. Default 0. */
  readonly swarm?: number;
  /** How long a world may take to settle, in milliseconds of virtual time; default five minutes. */
  readonly withinMs?: number;
  /**
   * How long it must be quiet after each run; default three minutes. The first world must be quiet for a day
   * without faults.
   */
  readonly quietMs?: number;
  /**
   * Tries every detail of every kind at every site (each status of B5, each child of E1), not one detail a
   * site.
   */
  readonly thorough?: boolean;
  /** Changes of the spec that a user makes and reverts at each step (E6). */
  readonly flips?: readonly Readonly<Record<string, unknown>>[];
  /**
   * Fields whose final value may differ from a run without faults, as `Pod.spec.containers.*.args`; `*` is
   * any element of a list.
   */
  readonly mayDiffer?: readonly string[];
  /** The number of different failures after which the exploration ends; default 3. */
  readonly failuresMax?: number;
  /** Only each `of`-th schedule from `index` on: for several processes. */
  readonly shard?: { readonly index: number; readonly of: number };
  /** What need not run again, by the names that `onDone` got. */
  readonly visited?: { has(name: string): boolean };
  /** Called before each run, also before reference runs and runs that shrink a failure. */
  readonly onBegin?: () => void;
  /** Called after each run. */
  readonly onRun?: (run: FinishedRun) => void;
  /** Called when a part of the exploration is done and broke no rule, with a name for `visited`. */
  readonly onDone?: (name: string) => void;
  /** Called when a failure is found and shrunk. `onDone` gets the same `name` when the failure is fixed. */
  readonly onFailure?: (failure: Failure, name: string) => void;
  /** Only for the time budget. */
  readonly clock?: Clock;
}

/** One schedule that ran, with the rules that it broke. */
export interface FinishedRun {
  readonly story: string;
  readonly cell: string;
  readonly broken: readonly BrokenRule[];
}

/** A broken rule with the smallest schedule that breaks it. */
export interface Failure {
  /** The smallest schedule that still breaks the rule. */
  readonly report: RunReport;
  readonly rule: BrokenRule;
  /** Faults before shrinking. */
  readonly faultsBefore: number;
  /** The oracle's sentence before shrinking, without numbers and names. */
  readonly sentence?: string;
  /** Runs that broke the same rule in the same way. */
  alike: number;
}

/** The result of an exploration: its failures, and how much of the faults it covered. */
export interface Exploration {
  readonly schedules: number;
  readonly failures: readonly Failure[];
  readonly coverage: readonly StoryCoverage[];
  readonly pairs: PairCounts;
  /** Whether all runs that the options ask for took place within the time. */
  readonly isComplete: boolean;
  /** Real time, in milliseconds. */
  readonly tookMs: number;
}

/** How many pairs of faults ran, and how many were skipped as redundant. */
export interface PairCounts {
  /** Pairs that ran now. */
  readonly run: number;
  /** Pairs that would have led to a known state. */
  readonly skipped: number;
  /** The number of faults that can be the first of a pair; `firstsDone` of them ran with every second one. */
  readonly firsts: number;
  readonly firstsDone: number;
}
