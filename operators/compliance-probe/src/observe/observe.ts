/** Reads everything that decides about a ComplianceProbe, and changes nothing. */
import { isNotFound, type ReconcileContext, type Stored } from "setpoint";
import { ConfigMap, Pod } from "setpoint/kinds";
import { type AcceptedAct, baselineKey } from "../kind/accepted.ts";
import type { ComplianceProbe } from "../kind/compliance-probe.ts";
import type { Seen } from "../seen/seen.ts";
import { observeRun } from "./observe-run.ts";
import { parseBaseline } from "./read-baseline.ts";

export async function observe(probe: Stored<ComplianceProbe>, context: ReconcileContext): Promise<Seen> {
  const runs = context.children
    .list(Pod)
    .map(observeRun)
    .toSorted((a, b) => b.number - a.number);
  const [run, ...older] = runs;
  const baseline = await readBaseline(probe, context);
  return {
    probe,
    nowMs: context.host.clock.now(),
    run,
    olderRuns: older.map(({ name }) => name),
    accepted: [...probe.spec.accepted, ...(typeof baseline === "string" ? [] : baseline)],
    baselineProblem: typeof baseline === "string" ? baseline : undefined,
  };
}

/** Read on demand: a cache of ConfigMaps would hold those of everybody. */
async function readBaseline(
  { metadata: { namespace }, spec }: Stored<ComplianceProbe>,
  { client }: ReconcileContext,
): Promise<readonly AcceptedAct[] | string> {
  if (spec.baseline === undefined) return [];
  const name = spec.baseline.configMap;
  try {
    const { data = {} } = await client.get(ConfigMap, { name, namespace: namespace ?? "" });
    const text = data[baselineKey];
    if (text === undefined) return `ConfigMap "${name}" has no key "${baselineKey}"; add it`;
    const parsed = parseBaseline(text);
    return typeof parsed === "string" ? `ConfigMap "${name}", key "${baselineKey}": ${parsed}` : parsed;
  } catch (error) {
    if (isNotFound(error)) return `ConfigMap "${name}" does not exist; create it`;
    throw error;
  }
}
