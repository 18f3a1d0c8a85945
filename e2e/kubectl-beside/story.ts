/**
 * Stories: text files of commands and what they print on a genuine cluster. `$` is a command that is
 * compared, `~` a step between, whose output says nothing; the indented lines below a command are its output.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

export interface Step {
  readonly command: string;
  readonly isCompared: boolean;
  /** What it printed, masked, a line each. */
  readonly output: readonly string[];
}

export interface Story {
  /** The name of its file, and of its namespace. */
  readonly name: string;
  /** The comment at the top. */
  readonly about: string;
  readonly steps: readonly Step[];
}

const folder = new URL("stories/", import.meta.url);
const indent = "    ";

export function readStories(): readonly Story[] {
  const names = readdirSync(folder).map((file) => file.replace(/\.txt$/, ""));
  return names.toSorted().map((name) => parseStory(name, readFileSync(new URL(`${name}.txt`, folder), "utf8")));
}

export function writeStory(story: Story): void {
  writeFileSync(new URL(`${story.name}.txt`, folder), formatStory(story));
}

export function parseStory(name: string, text: string): Story {
  const about: string[] = [];
  const steps: { command: string; isCompared: boolean; output: string[] }[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("# ")) about.push(line.slice(2));
    else if (/^[$~] /.test(line)) steps.push({ command: line.slice(2), isCompared: line.startsWith("$"), output: [] });
    else if (line.startsWith(indent)) steps.at(-1)?.output.push(line.slice(indent.length));
    else if (line.trim() === "") steps.at(-1)?.output.push("");
    else throw new Error(`Cannot read story "${name}": line "${line}" is no comment, command, or indented output`);
  }
  return { name, about: about.join(" "), steps: steps.map((step) => ({ ...step, output: withoutEnd(step.output) })) };
}

export function formatStory({ about, steps }: Story): string {
  const blocks = steps.map(({ command, isCompared, output }) => {
    const lines = output.map((line) => (line === "" ? "" : `${indent}${line}`));
    return [`${isCompared ? "$" : "~"} ${command}`, ...lines].join("\n");
  });
  return `# ${about}\n\n${blocks.join("\n\n")}\n`;
}

/** A blank line between two commands belongs to neither. */
function withoutEnd(lines: readonly string[]): readonly string[] {
  const last = lines.findLastIndex((line) => line !== "");
  return lines.slice(0, last + 1);
}

/** The steps whose output is compared. */
export function comparedSteps({ steps }: Story): readonly Step[] {
  return steps.filter(({ isCompared }) => isCompared);
}
