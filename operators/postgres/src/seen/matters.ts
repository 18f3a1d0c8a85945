/** What an observation notes about instances, so that the next one knows since when. */
import type { SeenInstance } from "./seen.ts";
import type { Memory } from "./memory.ts";
import { upgradeMatters } from "./upgrade.ts";
import { acceptsWrites, isStandby, podState } from "./seen.ts";
import type { PostgresCluster } from "../kind/postgres-cluster.ts";

/** The pod runs, and no server in it accepts writes. */
export function silenceOf({ name, pod }: SeenInstance): string {
  return `silent ${name} ${pod?.metadata.uid ?? ""}`;
}

/** The present term, for as long as this process knows it. */
export function termOf(term: number): string {
  return `term ${term}`;
}

/** The instance has answered that it follows the present term, which stays on its volume. */
export function denialBy(name: string, term: number): string {
  return `denied ${term} by ${name}`;
}

/** The process of the instance has ended, and no other one has come. */
export function endOf({ name, pod }: SeenInstance): string {
  const restarts = pod?.status?.containerStatuses?.find((each) => each.name === "postgres")?.restartCount;
  return `ended ${name} ${pod?.metadata.uid ?? ""} ${restarts ?? 0}`;
}

/** A cluster that has hibernated starts its primary. */
export const wakingMatter = "waking";

/** When instances were asked, and when all answers had come. */
export interface ObservationTimes {
  readonly askedMs: number;
  readonly nowMs: number;
}

/** What goes on, and since when at the latest; `before` is what was noted until now. */
export function mattersOf(
  cluster: PostgresCluster,
  instances: readonly SeenInstance[],
  before: Memory,
  { askedMs, nowMs }: ObservationTimes,
): ReadonlyMap<string, number> {
  const { term = 0, primary } = cluster.status ?? {};
  const current = instances.find(({ name }) => name === primary);
  // A replica that was appointed and still follows is no silent primary: it is on its way.
  const isFenced = cluster.status?.fencing?.members.some(({ name }) => name === primary) === true;
  const isSilent = current !== undefined && !isFenced && !acceptsWrites(current) && !isStandby(current);
  const isWaking = cluster.status?.hibernation !== undefined && !cluster.spec.hibernated;
  const denials = instances.filter((each) => denies(each, term, before));
  const ends = instances.filter(({ pod }) => podState(pod) === "ended");
  return new Map([
    [termOf(term), nowMs],
    ...upgradeMatters(cluster, instances).map((matter) => [matter, nowMs] as const),
    ...(isWaking ? [[wakingMatter, nowMs] as const] : []),
    ...(isSilent ? [[silenceOf(current), askedMs] as const] : []),
    ...denials.map((each) => [denialBy(each.name, term), deniedAtMs(each, term, nowMs)] as const),
    ...ends.map((each) => [endOf(each), nowMs] as const),
  ]);
}

/** One answer that is late takes back nothing. */
function denies({ name, report }: SeenInstance, term: number, { since }: Memory): boolean {
  return report === undefined ? since[denialBy(name, term)] !== undefined : report.term >= term;
}

/** It has given no consent to an earlier term since. An instance of an older release does not say so. */
function deniedAtMs({ report }: SeenInstance, term: number, nowMs: number): number {
  const { lastGrant } = report ?? {};
  return lastGrant === undefined || lastGrant.term >= term ? nowMs : nowMs - lastGrant.agoMs;
}

/**
 * Whether the former primary gets no consent: it goes on by that of a majority, itself counted. An instance
 * that follows the present term gives none.
 */
export function isDenied(cluster: PostgresCluster, instances: readonly SeenInstance[], memory: Memory): boolean {
  const { term = 0 } = cluster.status ?? {};
  const denying = instances.filter((each) => denies(each, term, memory));
  return majorityRefuses(cluster, instances, new Map(denying.map(({ name }) => [name, 0]))) !== undefined;
}

/**
 * Since when the former primary has got no consent of instances. A process that has ended gives none either,
 * until a new one comes, which may be seen late: so it counts only from the beginning of the term on.
 */
export function deniedSinceMs(
  cluster: PostgresCluster,
  instances: readonly SeenInstance[],
  { since }: Memory,
): number | undefined {
  const { term = 0 } = cluster.status ?? {};
  const sinceMs = new Map<string, number>();
  for (const each of instances) {
    const endedMs = since[endOf(each)];
    const beganMs = since[termOf(term)];
    const silentMs = endedMs === undefined || beganMs === undefined ? undefined : Math.max(endedMs, beganMs);
    const atMs = since[denialBy(each.name, term)] ?? silentMs;
    if (atMs !== undefined) sinceMs.set(each.name, atMs);
  }
  return majorityRefuses(cluster, instances, sinceMs);
}

/**
 * Since when so many refuse that the former primary has no majority. It counts the instances of the document
 * that it follows: those of the status, or, when a newer document reached it unseen, those of today. Both
 * must refuse it.
 */
function majorityRefuses(
  { status }: PostgresCluster,
  instances: readonly SeenInstance[],
  sinceMs: ReadonlyMap<string, number>,
): number | undefined {
  const { formerPrimary, voters } = status ?? {};
  if (formerPrimary === undefined) return undefined;
  const present = instances.map(({ name }) => name);
  const both = [present, voters ?? present].map((names) => enoughOf(names, formerPrimary, sinceMs));
  return both.reduce((one, other) => (one === undefined || other === undefined ? undefined : Math.max(one, other)));
}

/** Since when all of the smallest sufficient set refuse. */
function enoughOf(names: readonly string[], holder: string, sinceMs: ReadonlyMap<string, number>): number | undefined {
  const sorted = names
    .flatMap((name) => (name === holder ? [] : (sinceMs.get(name) ?? [])))
    .toSorted((one, other) => one - other);
  return sorted[Math.ceil(names.length / 2) - 1];
}
