/**
 * The capability level of an operator, from a page that answers the questions of the Operator SDK level by
 * level, such as docs/etcd-capabilities.md.
 */
import { SetpointError } from "@setpoint/apimachinery";

/** As the annotation `capabilities` of a ClusterServiceVersion has them. */
const levels = ["Basic Install", "Seamless Upgrades", "Full Lifecycle", "Deep Insights", "Auto Pilot"] as const;

export type CapabilityLevel = (typeof levels)[number];

export interface CapabilityScore {
  readonly level: CapabilityLevel;
  /** The first question above that level without a full yes; undefined on the last level. */
  readonly next: string | undefined;
}

/** Without a page nothing beyond it is known. */
export const lowestLevel: CapabilityLevel = levels[0];

interface Question {
  readonly level: number;
  readonly number: string;
  readonly text: string;
  readonly mark: string;
}

/**
 * The highest level of which, and of all below which, every question is answered with `Y`. Errors:
 * `ERR_NO_CAPABILITIES` for a page without questions of the first level, and for one whose first level is not
 * reached.
 */
export function capabilityScore(page: string): CapabilityScore {
  const questions = questionsOf(page);
  const open = questions.find(({ mark }) => mark !== "Y");
  const reached = open === undefined ? Math.max(0, ...questions.map(({ level }) => level)) : open.level - 1;
  const level = levels[reached - 1];
  if (level === undefined)
    throw new SetpointError(
      "ERR_NO_CAPABILITIES",
      `Cannot read the capability level: ${open === undefined ? 'there is no question below a heading "## Level 1."' : describe(open)}`,
    );
  return { level, next: open === undefined ? undefined : describe(open) };
}

function describe({ level, number, text, mark }: Question): string {
  return `question ${number} of level ${level}, "${text}", is answered with "${mark}"`;
}

/** The rows of the tables below headings `## Level N. …`. */
function questionsOf(page: string): readonly Question[] {
  const questions: Question[] = [];
  let level = 0;
  for (const line of page.split("\n")) {
    if (line.startsWith("## ")) level = Number(/^## Level (\d)/.exec(line)?.[1] ?? 0);
    const [, number, text = "", mark = ""] = line.split("|").map((cell) => cell.trim());
    if (level > 0 && /^\d+$/.test(number ?? "")) questions.push({ level, number: number ?? "", text, mark });
  }
  return questions.toSorted((a, b) => a.level - b.level);
}
