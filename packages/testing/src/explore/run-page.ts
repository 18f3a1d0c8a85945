/** A run as a page with one lane for each participant; it needs nothing but a browser. */
import { describeFault } from "../faults/fault.ts";
import type { RunReport } from "./run-schedule.ts";
import type { RunLine } from "./run-line.ts";
import { runLines } from "./run-text.ts";
import { describeStep } from "./story.ts";

const style = `
body { font: 14px/1.4 system-ui, sans-serif; margin: 2rem; color: #222; background: #fff }
h1 { font-size: 1.3rem } pre { background: #f4f4f4; padding: .7rem; overflow: auto; white-space: pre-wrap }
table { border-collapse: collapse; width: 100%; table-layout: fixed }
th { position: sticky; top: 0; background: #fff; text-align: left; border-bottom: 2px solid #888; padding: .3rem }
td { border-top: 1px solid #eee; padding: .15rem .3rem; vertical-align: top; overflow-wrap: anywhere; font: 12px/1.35 ui-monospace, monospace }
td.at, th.at { width: 6rem; color: #777; text-align: right }
.saw { color: #567 } .look { color: #999 } .refused { color: #a40 }
tr.fault td { background: #fff3c4; font-weight: 600 } tr.broken td { background: #ffd9d6; font-weight: 600 }
`;

/** A whole HTML document. */
export function runPage(report: RunReport, title: string, repro: string): string {
  const lines = runLines(report, true);
  const lanes = [...new Set(lines.map(({ who }) => who).filter((who) => who !== ""))];
  const { story, seed, faults } = report.schedule;
  const head = lanes.map((lane) => `<th>${escape(lane)}</th>`).join("");
  const facts = [
    `seed ${seed}, story "${story.name}"`,
    ...story.steps.map((step, index) => `${index + 1}. ${describeStep(step)}`),
    ...faults.map((fault) => `⚡ ${describeFault(fault)}`),
    ...report.broken.map(({ oracle, sentence }) => `✗ ${oracle}: ${sentence}`),
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escape(title)}</title><style>${style}</style></head>
<body><h1>${escape(title)}</h1>
<pre>${escape(facts.join("\n"))}</pre>
<p>Once more:</p><pre>${escape(repro)}</pre>
<table><thead><tr><th class="at">s</th>${head}</tr></thead>
<tbody>
${lines.map((line) => row(line, lanes)).join("\n")}
</tbody></table></body></html>
`;
}

function row(line: RunLine, lanes: readonly string[]): string {
  const at = `<td class="at">${(line.atMs / 1_000).toFixed(3)}</td>`;
  if (line.kind === "fault" || line.kind === "broken") {
    const mark = line.kind === "fault" ? "⚡" : "✗";
    return `<tr class="${line.kind}">${at}<td colspan="${Math.max(1, lanes.length)}">${mark} ${escape(line.text)}</td></tr>`;
  }
  const isLook = /^(GET|HEAD|WATCH) /.test(line.text);
  const cells = lanes.map((lane) =>
    lane === line.who ? `<td class="${isLook ? "look" : line.kind}">${escape(line.text)}</td>` : "<td></td>",
  );
  return `<tr>${at}${cells.join("")}</tr>`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
