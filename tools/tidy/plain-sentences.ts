/** What is reported and not refused: long sentences of pages, and long subjects of commits. */
import { execFileSync } from "node:child_process";

const wordsMax = 25;
const subjectMax = 60;

/** Sentences of a page above 25 words, each with its line. Code and tables are no sentences. */
export function longSentences({ path, text }: { readonly path: string; readonly text: string }): readonly string[] {
  if (!path.endsWith(".md")) return [];
  const lines = text.replaceAll(/^```[\s\S]*?^```/gm, (code) => code.replaceAll(/[^\n]/g, "")).split("\n");
  const found: string[] = [];
  for (const { line, paragraph } of paragraphsOf(lines)) {
    const sentences = paragraph.split(/(?<=[.!?:])\s+/);
    for (const sentence of sentences) {
      const words = sentence.split(/\s+/).filter(Boolean).length;
      if (words > wordsMax) found.push(`${path}:${line}: a sentence has ${words} words, at most ${wordsMax}`);
    }
  }
  return found;
}

function paragraphsOf(lines: readonly string[]): readonly { readonly line: number; readonly paragraph: string }[] {
  const paragraphs: { line: number; paragraph: string }[] = [];
  let isOpen = false;
  for (const [at, line] of lines.entries()) {
    const isProse = line.trim() !== "" && !/^(\||#|\s{4})/.test(line);
    const last = paragraphs.at(-1);
    if (isProse && isOpen && last !== undefined && !/^[-*\d]/.test(line)) last.paragraph += ` ${line}`;
    else if (isProse) paragraphs.push({ line: at + 1, paragraph: line });
    isOpen = isProse;
  }
  return paragraphs;
}

/** Subjects above 60 characters. */
export function longSubjects(subjects: readonly string[]): readonly string[] {
  return subjects
    .filter(({ length }) => length > subjectMax)
    .map((subject) => `commit: "${subject}" has ${subject.length} characters, at most ${subjectMax}`);
}

/** The subjects of the newest commits; none where there is no history. */
export function newestSubjects(count: number): readonly string[] {
  try {
    return execFileSync("git", ["log", `-${count}`, "--format=%s"], { encoding: "utf8" })
      .split("\n")
      .filter(Boolean);
  } catch {
    return [];
  }
}
