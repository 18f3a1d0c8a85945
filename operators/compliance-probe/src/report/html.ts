/** A report as one HTML file without scripts and without anything from elsewhere; pure. */
import { type ProbeReport, type ReportedAct, violationsOf } from "./probe-report-facts.ts";

const style = `
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid #ddd; }
.Allowed { background: #fde7e7; } .accepted { background: #fff6dd; } .Untried { color: #777; }
.verdict { font-weight: 600; white-space: nowrap; } small { color: #555; }
@media (prefers-color-scheme: dark) {
  body { background: #1b1b1b; color: #ddd; } th, td { border-color: #444; } small { color: #aaa; }
  .Allowed { background: #4a1f1f; } .accepted { background: #4a3f1a; }
}`;

/** What must be looked at comes first. */
const order = ["Allowed", "Untried", "Denied"];

export function htmlText(report: ProbeReport): string {
  const { namespace, name, finishedAt = "never", failure } = report;
  const violations = violationsOf(report).length;
  const acts = report.acts.toSorted((a, b) => order.indexOf(a.result.verdict) - order.indexOf(b.result.verdict));
  const title = `Compliance of ${namespace}/${name}`;
  const summary =
    violations === 0 ? "No act is allowed that must be denied." : `${violations} acts are allowed that must be denied.`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${style}
</style>
<h1>${escaped(title)}</h1>
<p><strong>${summary}</strong> ${report.acts.length} acts; the last run ended ${escaped(finishedAt)}.</p>
${failure === undefined ? "" : `<p>The last run is not complete: ${escaped(failure)}</p>\n`}<table>
<tr><th>Act</th><th>Verdict</th><th>What was seen</th><th>Why, and what denies it</th></tr>
${acts.map(row).join("\n")}
</table>
</html>
`;
}

function row({ act, result, compared }: ReportedAct): string {
  const { verdict, accepted, acceptedUntil, since, regressedAt, reason } = result;
  const kind = accepted === undefined ? verdict : "accepted";
  const until = acceptedUntil === undefined ? "" : ` until ${acceptedUntil}`;
  const notes = [
    `since ${since}`,
    ...(regressedAt === undefined ? [] : [`regressed ${regressedAt}`]),
    ...(accepted === undefined ? [] : [`accepted${until}: ${accepted}`]),
    ...(compared === undefined || compared === "unchanged" ? [] : [`${compared} to the baseline`]),
  ];
  const cells = [
    `<td><strong>${escaped(act.name)}</strong><br>${escaped(act.tries)}<br><small>${act.severity}</small></td>`,
    `<td><span class="verdict">${verdict}</span><br><small>${escaped(notes.join("; "))}</small></td>`,
    `<td>${escaped(reason)}</td>`,
    `<td>${escaped(act.because)}<br><small>${escaped(act.remedy)}</small></td>`,
  ];
  return `<tr class="${kind}">${cells.join("")}</tr>`;
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? character);
}
