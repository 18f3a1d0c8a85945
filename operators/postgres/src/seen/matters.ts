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

/** So many instances follow the present term that the former primary gets no lease from a majority. */
export function denialOf(term: number): string {
  return `denied ${term}`;
}

/** A cluster that has hibernated starts its primary. */
export const wakingMatter = "waking";

/** `before` is what was noted until now. */
export function mattersOf(
  cluster: PostgresCluster,
  instances: readonly SeenInstance[],
  before: Memory,
): readonly string[] {
  const { term = 0, primary } = cluster.status ?? {};
  const current = instances.find(({ name }) => name === primary);
  // A replica that was appointed and still follows is no silent primary: it is on its way.
  const isFenced = cluster.status?.fencing?.members.some(({ name }) => name === primary) === true;
  const isSilent = current !== undefined && !isFenced && !acceptsWrites(current) && !isStandby(current);
  const isWaking = cluster.status?.hibernation !== undefined && !cluster.spec.hibernated;
  return [
    termOf(term),
    ...upgradeMatters(cluster, instances),
    ...(isWaking ? [wakingMatter] : []),
    ...(isSilent ? [silenceOf(current)] : []),
    ...instances.filter((each) => denies(each, term, before)).map(({ name }) => denialBy(name, term)),
    ...(isDenied(cluster, instances, before, "answered or ended") ? [denialOf(term)] : []),
  ];
}

/** One answer that is late takes back nothing. */
function denies({ name, report }: SeenInstance, term: number, { since }: Memory): boolean {
  return report === undefined ? since[denialBy(name, term)] !== undefined : report.term >= term;
}

/**
 * Whether the former primary gets no consent: it goes on by that of a majority, itself counted. An instance
 * that follows the present term gives none. Neither does one whose process has ended, until a new process
 * comes, so its word counts only over time.
 *
 * The former primary counts the instances of the document that it follows: those of the status, or, when a
 * newer document reached it unseen, those of today. It must be denied by both.
 */
export function isDenied(
  { status }: PostgresCluster,
  instances: readonly SeenInstance[],
  memory: Memory,
  proof: "answered" | "answered or ended",
): boolean {
  const { term = 0, formerPrimary, voters } = status ?? {};
  if (formerPrimary === undefined) return false;
  const denying = new Set(
    instances
      .filter((each) => denies(each, term, memory) || (proof === "answered or ended" && podState(each.pod) === "ended"))
      .map(({ name }) => name),
  );
  const isMajorityOf = (names: readonly string[]): boolean =>
    names.filter((name) => name !== formerPrimary && denying.has(name)).length >= names.length / 2;
  const present = instances.map(({ name }) => name);
  return isMajorityOf(present) && isMajorityOf(voters ?? present);
}
