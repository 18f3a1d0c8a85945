/** What an observation notes about instances, so that the next one knows since when. */
import type { SeenInstance } from "./seen.ts";
import { acceptsWrites, isStandby, podState } from "./seen.ts";
import type { PostgresCluster } from "../kind/postgres-cluster.ts";

/** The pod runs, and no server in it accepts writes. */
export function silenceOf({ name, pod }: SeenInstance): string {
  return `silent ${name} ${pod?.metadata.uid ?? ""}`;
}

/** So many instances follow the present term that the former primary gets no lease from a majority. */
export function denialOf(term: number): string {
  return `denied ${term}`;
}

export function mattersOf({ status }: PostgresCluster, instances: readonly SeenInstance[]): readonly string[] {
  const { term = 0, primary, formerPrimary } = status ?? {};
  const current = instances.find(({ name }) => name === primary);
  // A replica that was appointed and still follows is no silent primary: it is on its way.
  const isSilent = current !== undefined && !acceptsWrites(current) && !isStandby(current);
  const silent = isSilent ? [silenceOf(current)] : [];
  return isDenied(instances, term, formerPrimary) ? [...silent, denialOf(term)] : silent;
}

/**
 * A primary goes on by the consent of a majority, itself counted. An instance whose process has ended
 * consents to nothing, and neither does one that follows the present term.
 */
function isDenied(instances: readonly SeenInstance[], term: number, former: string | undefined): boolean {
  if (former === undefined) return false;
  const others = instances.filter(({ name }) => name !== former);
  const denying = others.filter(({ report, pod }) => (report?.term ?? -1) >= term || podState(pod) === "ended");
  return denying.length >= instances.length / 2;
}
