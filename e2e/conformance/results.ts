/** The results of the last whole run, and the page that shows them. */
import { readFileSync, writeFileSync } from "node:fs";
import { type CaseResult, groupOf } from "./case.ts";

const dataFile = new URL("results.json", import.meta.url);
const page = new URL("../../docs/conformance.md", import.meta.url);

/** Results by name, sorted. */
export function readResults(): readonly CaseResult[] {
  return JSON.parse(readFileSync(dataFile, "utf8")) as readonly CaseResult[];
}

/** Writes the data and docs/conformance.md. */
export function writeResults(results: readonly CaseResult[], version: string): void {
  const sorted = results.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  writeFileSync(dataFile, `[\n${sorted.map((each) => JSON.stringify(each)).join(",\n")}\n]\n`);
  writeFileSync(page, pageOf(sorted, version));
}

/** `apps 10 of 60, network 23 of 47`. */
export function countsByGroup(results: readonly CaseResult[]): readonly string[] {
  return [...groups(results)].map(([group, each]) => `${group} ${passed(each)} of ${each.length}`);
}

function passed(results: readonly CaseResult[]): number {
  return results.filter(({ outcome }) => outcome === "passed").length;
}

function groups(results: readonly CaseResult[]): ReadonlyMap<string, readonly CaseResult[]> {
  return new Map([...Map.groupBy(results, ({ name }) => groupOf(name))].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function pageOf(results: readonly CaseResult[], version: string): string {
  const rows = [...groups(results)].map(([group, each]) => `| ${group} | ${passed(each)} | ${each.length} |`);
  const open = results.filter(({ outcome }) => outcome !== "passed");
  return `# Conformance

For users and maintainers. Kubernetes' own conformance suite, \`e2e.test\` ${version}, against \`setpoint up\`.
\`npm run conformance\` builds the suite, runs it and writes this page.

**${passed(results)} of ${results.length} cases pass.**

| group | passed | cases |
| ----- | -----: | ----: |
${rows.join("\n")}

## Cases that do not pass

${open.map(({ name, outcome, reason }) => `- ${name}\n  ${outcome}: ${reason.replaceAll(/[<>|`*_]/g, " ")}`).join("\n")}
`;
}
