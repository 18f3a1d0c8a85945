/** What an exploration is asked for, and what it has come to. */
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
  /** Default: `allOracles`. The setting's own are always asked too. */
  readonly oracles?: readonly Oracle[];
  /** Whether each fault strikes alone first; default true. */
  readonly singles?: boolean;
  /** So many pairs of faults at most, after all single ones; those that lead to nothing new are not counted. Default 0. */
  readonly pairs?: number;
  /** So many random schedules with several faults, after that; the worlds take turns. Default 0. */
  readonly swarm?: number;
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
  /** What need not be run again, by the names that `onDone` was called with. */
  readonly visited?: { has(name: string): boolean };
  /** Called before each run, those too that others are compared to, and those that make a failure smaller. */
  readonly onBegin?: () => void;
  /** Called after each run. */
  readonly onRun?: (run: FinishedRun) => void;
  /** Called when something is done and has broken no rule, with a name for `visited`. */
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
  /** Whether everything that was asked for was run, and nothing was cut off by the time. */
  readonly isComplete: boolean;
  /** Real time, in milliseconds. */
  readonly tookMs: number;
}

/** How many pairs of faults ran, and how many were skipped as redundant. */
export interface PairCounts {
  /** Pairs that were run now. */
  readonly run: number;
  /** Pairs that would have led to a state that was seen before. */
  readonly skipped: number;
  /** Of so many faults that can be the first of a pair, so many have been followed by all that can come after them. */
  readonly firsts: number;
  readonly firstsDone: number;
}
