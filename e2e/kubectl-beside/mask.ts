/** Puts a word in the place of what differs in each run: times, addresses, generated names, identifiers. */

export interface Names {
  /** Of the cluster's only node. */
  readonly node: string;
  /** The address of the API server. */
  readonly server: string;
}

/** The letters of names that Kubernetes generates. */
const generated = "[bcdfghjklmnpqrstvwxz2456789]";
const age = "(?:\\d+[dhms]){1,3}";

/** Carriage returns, questions to a terminal, and the echo of the end of an input. */
// oxlint-disable-next-line no-control-regex -- A terminal is spoken to in control characters.
const terminalNoise = /\r|\u001b\[[0-9;]*[a-zA-Z]|\^[@D]|\u0008/g;

const masks: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "<uid>"],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)/g, "<time>"],
  [/\b\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, "<time>"],
  [/\b[a-z]+:\/\/[0-9a-f]{64}\b/g, "<container>"],
  [/\bprocess:\/\/<uid>\/[\w-]+\/\d+/g, "<container>"],
  [/"[0-9a-f]{64}"/g, '"<id>"'],
  [/\b(process:\/\/)?sha256:[0-9a-f]{64}\b/g, "sha256:<digest>"],
  [new RegExp(`-${generated}{8,10}\\b`, "g"), "-<hash>"],
  [new RegExp(`(pod-template-hash[=:] ?"?|controller-revision-hash[=:] ?"?)[\\w-]+`, "g"), "$1<hash>"],
  [new RegExp(`-${generated}{5}\\b`, "g"), "-<id>"],
  [/\b(10|127|192)(\.\d{1,3}){3}\b/g, "<ip>"],
  [/(resourceVersion: |"resourceVersion":)"\d+"/g, '$1"<n>"'],
  [/(Resource Version: +)\d+/g, "$1<n>"],
  [/(:|nodePort: |NodePort: +\S+ +)3[0-2]\d{3}\b/g, "$1<port>"],
  [/\bv1\.36\.\d+\b/g, "v1.36"],
  [new RegExp(`(?<=^| {2})${age}(?= {2}|$| \\(x\\d)`, "gm"), "<age>"],
  [new RegExp(`(over |\\()${age}(?= ago\\)|\\))`, "g"), "$1<age>"],
  [/(?<=<age> \()x\d+ over <age>\)/g, "xN over <age>)"],
  [/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4} \w+/g, "<time>"],
];

/** The lines of an output. Columns are as wide as their words, so runs of blanks are two. */
export function mask(text: string, { node, server }: Names): readonly string[] {
  const named = text.replaceAll(terminalNoise, "").replaceAll(server, "<server>").replaceAll(node, "<node>");
  const masked = masks.reduce((rest, [pattern, word]) => rest.replaceAll(pattern, word), named);
  const lines = masked.split("\n").map((line) => line.replaceAll(/(?<=\S) {2,}/g, "  ").trimEnd());
  return lines.slice(0, lines.findLastIndex((line) => line !== "") + 1);
}
