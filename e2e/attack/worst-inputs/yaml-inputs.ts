/** YAML with many keys, aliases of aliases and odd characters. */
import { many, nested, post, yaml, type WorstInput } from "./worst-input.ts";

const aliases = Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}*a${i}]`);

export const yamlInputs: readonly WorstInput[] = [
  post("YAML with many keys", many((i) => `\n${i.toString(36)}: 1`, 600_000).replaceAll(",", ""), undefined, yaml),
  post("YAML with many keys in one flow map", `{${many((i) => `${i.toString(36)}: 1`)}}`, undefined, yaml),
  post("YAML with many keys, 189 kB", many((i) => `\nk${i}: 1`, 189_000).replaceAll(",", ""), undefined, yaml),
  post("YAML that doubles itself by aliases", `a0: &a0 x\n${aliases.join("\n")}\n`, 400, yaml),
  post(
    "YAML that repeats one large node",
    `a: &a ${"x".repeat(1_000_000)}\nb: [${"*a,".repeat(90)}*a]\n`,
    undefined,
    yaml,
  ),
  post(
    "YAML that merges maps into maps",
    `a0: &a0 {${many((i) => `k${i}: 1`, 50_000)}}\n${many((i) => `\na${i + 1}: &a${i + 1}\n  <<: *a${i}\n  n${i}: 1`, 50_000).replaceAll(",", "")}`,
    undefined,
    yaml,
  ),
  post("YAML of lists in lists", nested("[", "]", 50_000), undefined, yaml),
  post("YAML of open lists", "[".repeat(100_000), undefined, yaml),
  post("YAML of dashes", "- ".repeat(50_000), undefined, yaml),
  post("YAML of indented maps", Array.from({ length: 2_000 }, (_, i) => `${" ".repeat(i)}a:`).join("\n"), 400, yaml),
  post("YAML of question marks", "? ".repeat(30_000), undefined, yaml),
  post("YAML of anchors", many((i) => `\n- &a${i} b`, 100_000).replaceAll(",", ""), undefined, yaml),
  post("YAML of tags", many(() => "\n- !a!b c", 50_000).replaceAll(",", ""), undefined, yaml),
  post("YAML of documents", "---\na: 1\n".repeat(30_000), undefined, yaml),
  post("YAML of comments", "#\n".repeat(50_000), undefined, yaml),
  post("YAML of empty lines in a string", `a: "${"\n".repeat(300_000)}"`, undefined, yaml),
  post("YAML of folded lines", `a: >\n${" b\n\n".repeat(70_000)}`, undefined, yaml),
  post("YAML of quotes", `a: '${"''".repeat(150_000)}'`, undefined, yaml),
  post("YAML of spaces", `a: "${" ".repeat(300_000)}`, 400, yaml),
  post("YAML of colons", ":".repeat(300_000), undefined, yaml),
  post("YAML with an alias of nothing", "a: *b", 400, yaml),
  post("YAML with an alias of itself", "a: &a [*a]", 400, yaml),
  post("YAML with bytes that are no UTF-8", Buffer.from([0x61, 0x3a, 0x20, 0xff, 0xfe]), 400, yaml),
];
