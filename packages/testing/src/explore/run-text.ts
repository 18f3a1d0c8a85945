/** A run as a person reads it: who did what, saw what, when, and what broke which rule. */
import { describeFault } from "../faults/fault.ts";
import { folded } from "./fold-lines.ts";
import type { RunLine } from "./run-line.ts";
import type { RunReport } from "./run-schedule.ts";

const linesMaxDefault = 30;
/** Lines on each side of a fault or a broken rule. */
const around = 3;

/** Everything that counts, in order. With `all`, looks and reads too. */
export function runLines(report: RunReport, all = false): readonly RunLine[] {
  const did = report.hops
    .filter(({ kind }) => kind === "write" || all)
    .map(({ atMs, who, what, outcome, status = 200 }) => ({
      atMs,
      who,
      kind: status >= 400 ? ("refused" as const) : ("did" as const),
      text: `${what} → ${outcome}`,
    }));
  const struckResources = new Set(report.struck.flatMap(({ fault: { at } }) => ("event" in at ? [at.event] : [])));
  const saw = report.sightings
    .filter(({ resource }) => all || struckResources.has(resource))
    .map(({ atMs, who, type, resource, name, resourceVersion }) => ({
      atMs,
      who,
      kind: "saw" as const,
      text: `saw ${resource}/${name} ${type.toLowerCase()} (version ${resourceVersion})`,
    }));
  const struck = report.struck.map(({ fault, atMs }) => ({
    atMs,
    who: "",
    kind: "fault" as const,
    text: describeFault(fault),
  }));
  const broken = report.broken.map(({ oracle, sentence, atMs }) => ({
    atMs,
    who: "",
    kind: "broken" as const,
    text: `breaks "${oracle}": ${sentence.split("\n")[0] ?? ""}`,
  }));
  // A stable sort: what happens at one moment stays in the order of the lists.
  return [...did, ...saw, ...struck, ...broken].sort((a, b) => a.atMs - b.atMs);
}

/**
 * Prints an event that repeats once. At most `linesMax` lines (`Infinity`: all); it omits first the lines
 * that are far from everything that matters.
 */
export function runText(report: RunReport, linesMax: number = linesMaxDefault): string {
  const lines = folded(runLines(report));
  const ranks = lines.map((_, index) => rankOf(lines, index));
  const kept = new Set(
    [...ranks.keys()]
      .sort((a, b) => (ranks[a] ?? 0) - (ranks[b] ?? 0) || a - b)
      .slice(0, lines.length > linesMax ? Math.floor(linesMax * 0.7) : linesMax)
      .sort((a, b) => a - b),
  );
  const text: string[] = [];
  let leftOut = 0;
  for (const [index, line] of lines.entries()) {
    if (!kept.has(index)) {
      leftOut++;
      continue;
    }
    if (leftOut > 0) text.push(`             … ${leftOut} more`);
    leftOut = 0;
    text.push(lineText(line));
  }
  if (leftOut > 0) text.push(`             … ${leftOut} more`);
  return text.slice(0, linesMax).join("\n");
}

function lineText({ atMs, who, kind, text }: RunLine): string {
  const mark = kind === "fault" ? "⚡ " : kind === "broken" ? "✗ " : "";
  const whole = `${(atMs / 1_000).toFixed(3).padStart(10)} s  ${mark}${who === "" ? "" : `${who.padEnd(11)} `}${text}`;
  return whole.length > 200 ? `${whole.slice(0, 200)}…` : whole;
}

/** The smaller, the more it matters. */
function rankOf(lines: readonly RunLine[], index: number): number {
  const { kind, who } = lines[index] ?? { kind: "did", who: "" };
  if (kind === "fault" || kind === "broken") return 0;
  const near = lines
    .slice(Math.max(0, index - around), index + around + 1)
    .some((each) => each.kind === "fault" || each.kind === "broken");
  if (near) return 1;
  if (who === "user" || who === "somebody") return 2;
  return who === "nodes" || who === "controllers" ? 4 : 3;
}
