/**
 * A doc comment with an indentation; nothing for no lines. Long lines of a description are broken at spaces.
 */
export function docComment(paragraphs: readonly (string | undefined)[], indent: string): string {
  const lines = paragraphs.flatMap((text) => (text === undefined ? [] : text.split("\n"))).flatMap(broken);
  while (lines.at(-1) === "") lines.pop();
  const [first] = lines;
  if (first === undefined) return "";
  if (lines.length === 1) return `${indent}/** ${first} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} *${line === "" ? "" : ` ${line}`}\n`).join("")}${indent} */\n`;
}

const lineLengthMax = 110;

function broken(line: string): readonly string[] {
  // A description must not end the comment that it stands in.
  const words = line.trimEnd().replaceAll("*/", "*\\/").split(" ");
  const lines: string[] = [];
  let current = words[0] ?? "";
  for (const word of words.slice(1)) {
    if (current.length + word.length < lineLengthMax) {
      current += ` ${word}`;
      continue;
    }
    lines.push(current);
    current = word;
  }
  return [...lines, current];
}
