/** The ConfigMap that accepts what a probe has found so far; pure. */
import { ConfigMap } from "setpoint/kinds";
import { stringify } from "yaml";
import { baselineKey } from "../kind/accepted.ts";
import { type ProbeReport, violationsOf } from "./probe-report-facts.ts";

/** Acts that are accepted already keep their own place. */
export function baselineText(report: ProbeReport, until: string | undefined): string {
  const accepted = violationsOf(report).map(({ act, result }) => ({
    act: act.name,
    reason: `as found ${result.since}: ${result.reason}`,
    ...(until === undefined ? {} : { until }),
  }));
  const { namespace, name } = report;
  const { apiVersion, kind } = ConfigMap;
  const data = { [baselineKey]: stringify(accepted) };
  return stringify({ apiVersion, kind, metadata: { name: `${name}-accepted`, namespace }, data });
}
