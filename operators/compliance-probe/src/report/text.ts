/** A report for a terminal; pure. */
import { type ProbeReport, type ReportedAct, violationsOf } from "./probe-report-facts.ts";

export function reportLines(report: ProbeReport): readonly string[] {
  const { namespace, name, acts, failure } = report;
  const violations = violationsOf(report);
  const count = (verdict: string): number => acts.filter(({ result }) => result.verdict === verdict).length;
  return [
    ...acts.filter(({ result }) => result.verdict !== "Denied").map(lineOf),
    ...acts.filter(({ compared }) => compared === "fixed").map(lineOf),
    ...(failure === undefined ? [] : [`The last run is not complete: ${failure}`]),
    `${namespace}/${name}: ${count("Denied")} denied, ${count("Allowed")} allowed, ${count("Untried")} could not be tried; ${violations.length} must be denied and ${violations.length === 1 ? "is" : "are"} not`,
  ];
}

function lineOf({ act, result, compared }: ReportedAct): string {
  const notes = [
    ...(result.accepted === undefined ? [] : [`accepted: ${result.accepted}`]),
    ...(compared === undefined || compared === "unchanged" ? [] : [`${compared} to the baseline`]),
  ];
  const note = notes.length === 0 ? "" : ` (${notes.join("; ")})`;
  const remedy = result.verdict === "Allowed" && result.accepted === undefined ? `; ${act.remedy}` : "";
  return `${result.verdict.padEnd(7)} ${act.name}${note}: ${result.reason}${remedy}`;
}
