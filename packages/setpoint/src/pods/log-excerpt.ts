/** The few words of a program's last output that say why it ended; pure. */

const lineLengthMax = 300;
/** How many lines are shown when none of them looks like the reason. */
const lastLines = 3;
/** Escape sequences of terminals, and control characters other than line breaks. */
// oxlint-disable-next-line no-control-regex
const controls = /\u001b\[[0-9;?]*[A-Za-z]|[\u0000-\u0008\u000b-\u001f\u007f]/g;
/** Lines of stack traces of Go, Node.js, Java and Python, and what stands around them. */
const frames = [
  /^\s*at \S/,
  /^\s*File ".*", line \d+/,
  /^goroutine \d+ /,
  /^\S+\(.*\)$/,
  /^\s*[\w/.@~-]+\.(?:go|js|mjs|c|cc|rs):\d+/,
  /\bat:$/,
  /^Node\.js v/,
  /^node:[\w/]+:\d+$/,
  /^\s*(?:throw|return) /,
  /^[\s^}{)\]]*$/,
  /^\s*(?:errno|syscall|code|path|address|port): /,
];
const tells =
  /\b(?:error|fatal|panic|fail(?:ed|ure)?|cannot|can't|denied|unknown|invalid|not defined|not found|no such|refused|unable|missing|unrecogni[sz]ed|already in use|exception|abort(?:ed)?)\b/i;

/**
 * The last line that names an error, after the last one for which `isCause` holds, when that is another one.
 * Without any, the last few lines. Empty when nothing was written.
 */
export function logExcerpt(output: string, isCause: (line: string) => boolean): string {
  const lines = withoutUsage(output.replace(controls, ""))
    .split("\n")
    .filter((line) => !frames.some((frame) => frame.test(line)))
    .map((line) => plainLine(line.trim()));
  const telling = lines.findLast((line) => tells.test(line) || isCause(line));
  const cause = lines.findLast(isCause);
  if (telling === undefined) return lines.slice(-lastLines).join(" ");
  return cause === undefined || isCause(telling) ? telling : `${cause}; ${telling}`;
}

/** A program that gets a wrong option prints what is wrong, and then how it is used. */
function withoutUsage(output: string): string {
  const before = output.split(/^usage:/im, 1)[0] ?? "";
  return before.trim() === "" ? output : before;
}

/**
 * A line of a structured log says its matter in a message and an error. The first line of a termination
 * message may have lost its beginning.
 */
function plainLine(line: string): string {
  const message = jsonField(line, "msg") ?? jsonField(line, "message");
  const error = jsonField(line, "error") ?? jsonField(line, "err");
  const parts = [message, error].filter((part) => part !== undefined && part !== "");
  return shortened(parts.length === 0 ? line : parts.join(": "), lineLengthMax);
}

function jsonField(line: string, name: string): string | undefined {
  const found = new RegExp(`"${name}":("(?:[^"\\\\]|\\\\.)*")`).exec(line)?.[1];
  if (found === undefined) return undefined;
  try {
    return String(JSON.parse(found));
  } catch {
    return undefined;
  }
}

/** The beginning of a text that is longer than `lengthMax`. */
export function shortened(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax - 1)}…`;
}
