/** The commands that pages print: in blocks to be typed, and inside of sentences. */

export interface PrintedCommand {
  readonly page: string;
  readonly line: number;
  /** As a reader would type it, without a comment at its end. */
  readonly text: string;
}

/** What the first word of a command can be. */
const programs = new Set([
  ...["apt-get", "bash", "cd", "ctr", "curl", "docker", "export", "etcdctl", "git", "go", "grep", "head", "helm"],
  ...["kind", "kubectl", "node", "npm", "npx", "openssl", "pod", "python3", "setpoint", "skopeo", "sudo", "umask"],
]);
const shells = new Set(["sh", "bash", "shell"]);

interface Block {
  readonly language: string;
  /** The line of its first line. */
  readonly start: number;
  readonly lines: readonly string[];
}

/** In their order; each as often as the page prints it. */
export function printedCommands(page: string, text: string): readonly PrintedCommand[] {
  const { blocks, prose } = splitPage(text.split("\n"));
  return [
    ...blocks.flatMap(({ language, start, lines }) =>
      typedLines(language, lines).map(({ at, text: typed }) => ({ page, line: start + at, text: typed })),
    ),
    ...prose.flatMap(({ line, text: sentence }) =>
      inlineCommands(sentence).map((typed) => ({ page, line, text: typed })),
    ),
  ].toSorted((a, b) => a.line - b.line);
}

interface ProseLine {
  readonly line: number;
  readonly text: string;
}

/** Fenced blocks, and blocks that are indented by four columns after an empty line. */
function splitPage(lines: readonly string[]): {
  readonly blocks: readonly Block[];
  readonly prose: readonly ProseLine[];
} {
  const blocks: Block[] = [];
  const prose: ProseLine[] = [];
  for (let i = 0; i < lines.length;) {
    const fence = /^ *```(\w*)/.exec(lines[i] ?? "");
    const isIndented = /^ {4}\S/.test(lines[i] ?? "") && (lines[i - 1] ?? "").trim() === "";
    if (fence === null && !isIndented) {
      prose.push({ line: i + 1, text: lines[i] ?? "" });
      i++;
      continue;
    }
    const start = fence === null ? i : i + 1;
    const end = endOfBlock(lines, start, fence !== null);
    const indent = fence === null ? 4 : 0;
    const body = lines.slice(start, end).map((line) => line.slice(indent));
    blocks.push({ language: fence?.[1] ?? "", start: start + 1, lines: body });
    i = fence === null ? end : end + 1;
  }
  return { blocks, prose };
}

function endOfBlock(lines: readonly string[], start: number, isFenced: boolean): number {
  const isEnd = (line: string): boolean =>
    isFenced ? /^ *```/.test(line) : line.trim() !== "" && !line.startsWith("    ");
  const found = lines.findIndex((line, i) => i >= start && isEnd(line));
  return found === -1 ? lines.length : found;
}

interface TypedLine {
  readonly at: number;
  readonly text: string;
}

/**
 * In a block with prompts the other lines are what is printed; a block without is all typed, or not at all.
 */
function typedLines(language: string, lines: readonly string[]): readonly TypedLine[] {
  const hasPrompts = lines.some((line) => line.startsWith("$ "));
  const isTyped = shells.has(language) || (language === "" && programs.has(firstWord(lines[0] ?? "")));
  if (!hasPrompts && !isTyped) return [];
  const typed: TypedLine[] = [];
  for (let i = 0; i < lines.length;) {
    const line = lines[i] ?? "";
    const isCommand = hasPrompts ? line.startsWith("$ ") : line.trim() !== "" && !line.startsWith("#");
    if (!isCommand) {
      i++;
      continue;
    }
    const count = linesOfCommand(lines, i);
    const text = lines
      .slice(i, i + count)
      .join("\n")
      .replace(/^\$ /, "");
    typed.push({ at: i, text: withoutComment(text) });
    i += count;
  }
  return typed;
}

/** A command goes on after a backslash, and to the end of a loop. */
function linesOfCommand(lines: readonly string[], start: number): number {
  let end = start;
  while ((lines[end] ?? "").endsWith("\\")) end++;
  if (/^(\$ )?(for|while|until) /.test(lines[start] ?? ""))
    while (end < lines.length - 1 && lines[end] !== "done") end++;
  return end - start + 1;
}

function inlineCommands(sentence: string): readonly string[] {
  return [...sentence.matchAll(/`([^`]+)`/g)]
    .map(([, code = ""]) => code.replaceAll("\\|", "|").trim())
    .filter((code) => programs.has(firstWord(code)) && code.includes(" "));
}

function firstWord(text: string): string {
  const words = text.replace(/^\$ /, "").split(/\s+/);
  // Variables before the program are set for it alone.
  return words.find((word) => !/^[A-Z_]+=/.test(word)) ?? "";
}

function withoutComment(text: string): string {
  return text.replace(/\s+# .*$/, "").trimEnd();
}
