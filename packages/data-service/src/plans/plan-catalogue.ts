/**
 * Plans: sizes of an instance by name, such as "small". A spec names one, and gets what the plan gives; pure.
 */
import { type Lifetime, type LifetimeReport, lifetimeReport } from "../versions/lifetime.ts";

/** One plan; what it gives is the engine's. */
export interface CataloguePlan<Gives> extends Lifetime {
  readonly name: string;
  readonly description?: string | undefined;
  readonly gives: Gives;
}

/** The plan that an instance has, as its status records it. */
export interface PlanInForce<Gives> {
  readonly name: string;
  readonly gives: Gives;
}

export interface ChosenPlan<Gives> {
  /** The plan in force from now on; with a refusal the one from before. */
  readonly plan: PlanInForce<Gives> | undefined;
  /** Why the wanted plan is refused. */
  readonly refusal?: string | undefined;
}

/**
 * The plan of an instance that wants `wanted` and has `before`. An instance keeps a plan that was withdrawn.
 * It keeps one that is no longer in the catalogue too, with what it gave.
 */
export function choosePlan<Gives>(
  catalogue: readonly CataloguePlan<Gives>[],
  wanted: string | undefined,
  before: PlanInForce<Gives> | undefined,
  nowMs: number,
): ChosenPlan<Gives> {
  if (wanted === undefined) return { plan: undefined };
  const entry = planNamed(catalogue, wanted);
  const refusal = before?.name === wanted ? undefined : planRefusal(catalogue, entry, wanted, nowMs);
  if (entry === undefined || refusal !== undefined) return { plan: before, refusal };
  return { plan: { name: entry.name, gives: entry.gives } };
}

function planRefusal(
  catalogue: readonly CataloguePlan<unknown>[],
  entry: CataloguePlan<unknown> | undefined,
  wanted: string,
  nowMs: number,
): string | undefined {
  if (entry === undefined) return `plan "${wanted}" is unknown: ${offerText(catalogue, nowMs)}`;
  const { state, message } = planReport(catalogue, wanted, nowMs);
  return state === "Withdrawn" ? `${message}; ${offerText(catalogue, nowMs)}` : undefined;
}

/** The plans that a new instance may have. */
function offerText(catalogue: readonly CataloguePlan<unknown>[], nowMs: number): string {
  const names = catalogue.map(({ name }) => name);
  const offered = names.filter((name) => planReport(catalogue, name, nowMs).state !== "Withdrawn");
  return offered.length === 0 ? "no plans are offered" : `available plans are ${offered.join(", ")}`;
}

/** Where a plan stands on a day. */
export function planReport(catalogue: readonly CataloguePlan<unknown>[], name: string, nowMs: number): LifetimeReport {
  return lifetimeReport(`plan "${name}"`, planNamed(catalogue, name), nowMs);
}

/** The plan of this name; undefined when there is none. */
export function planNamed<Gives>(
  catalogue: readonly CataloguePlan<Gives>[],
  name: string | undefined,
): CataloguePlan<Gives> | undefined {
  return catalogue.find((each) => each.name === name);
}
