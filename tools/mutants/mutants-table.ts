import type { Finding } from "./campaign.ts";
import type { FinishedTwin } from "./twin-rounds.ts";

/** The proof as Markdown: one row a mutant, and the sums. */
export function mutantsTable(findings: readonly Finding[], twins: readonly FinishedTwin[]): string {
  const rows = findings.map(({ id, bug, rule, faults, traceLines, schedules, seconds }) => [
    id,
    bug,
    rule ?? "**not found**",
    String(faults.length),
    faults.map((fault) => fault.split(" ")[0]).join(" ") || "–",
    String(traceLines),
    String(schedules),
    seconds.toFixed(1),
  ]);
  const header = ["mutant", "what is wrong", "rule that it breaks", "faults", "kinds", "lines", "runs", "s"];
  const lines = [header, header.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  return [...lines, "", ...sums(findings, twins)].join("\n");
}

function sums(findings: readonly Finding[], twins: readonly FinishedTwin[]): readonly string[] {
  const found = findings.filter(({ rule }) => rule !== undefined);
  const times = found.map(({ seconds }) => seconds).toSorted((a, b) => a - b);
  const small = found.filter(({ faults, traceLines }) => faults.length <= 3 && traceLines <= 30);
  const templates = findings.filter(({ id }) => /^M\d+$/.test(id));
  const alarms = twins.flatMap((twin) => twin.alarms.map((alarm) => `  - ${twin.id}, round ${twin.round}: ${alarm}`));
  const runs = twins.reduce((sum, each) => sum + each.schedules, 0);
  const isFound = (list: readonly Finding[]): string =>
    `${list.filter(({ rule }) => rule !== undefined).length} of ${list.length}`;
  return [
    `- templates found: ${isFound(templates)}; Sieve's patterns: ${isFound(findings.filter((each) => !templates.includes(each)))}`,
    `- time to find: median ${(times[Math.floor(times.length / 2)] ?? 0).toFixed(1)} s, largest ${(times.at(-1) ?? 0).toFixed(1)} s`,
    `- shrunk to at most 3 faults and 30 lines: ${small.length} of ${found.length}`,
    `- twins: ${alarms.length} alarms in ${runs} schedules`,
    ...alarms,
  ];
}
