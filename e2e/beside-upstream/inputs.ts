/**
 * The inputs of this suite: each is one or more requests in a namespace of its own. A file of inputs/ holds
 * those of one subject.
 */
import { readdirSync, readFileSync } from "node:fs";
import { parse } from "yaml";

/** One request, as it is written in a file: a line with method, path and content type, then the body. */
export interface Step {
  readonly method: string;
  readonly path: string;
  readonly contentType: string;
  /** The body as it is sent, byte by byte. */
  readonly body: Buffer | undefined;
}

export interface Input {
  readonly name: string;
  /** The namespace that the input has to itself; the same in each run. */
  readonly namespace: string;
  readonly steps: readonly Step[];
}

export interface InputFile {
  /** The file's name without its ending: `numbers`. */
  readonly subject: string;
  /** Files of definitions/ that are created before the first input. */
  readonly definitions: readonly string[];
  /** Whether recorded answers keep `metadata.managedFields`. */
  readonly managedFields: boolean;
  readonly inputs: readonly Input[];
}

type Words = Readonly<Record<string, string>>;

interface WrittenFile {
  readonly definitions?: readonly string[];
  readonly managedFields?: boolean;
  /** Texts that stand for `{name}` in each step of the file. */
  readonly words?: Words;
  readonly inputs: readonly WrittenInput[];
}

interface WrittenInput {
  readonly name: string;
  /** The input once for each combination of these texts. */
  readonly each?: Readonly<Record<string, readonly string[]>>;
  readonly steps: readonly string[];
}

const contentTypes: Words = {
  json: "application/json",
  yaml: "application/yaml",
  "yaml-utf16": "application/yaml",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  patch: "application/json-patch+json",
  apply: "application/apply-patch+yaml",
  text: "text/plain",
};
const folder = new URL("inputs/", import.meta.url);
const definitionsFolder = new URL("definitions/", import.meta.url);

/** All files of inputs/, in the order of their names. Throws when two inputs have one name. */
export function readInputs(): readonly InputFile[] {
  const files = readdirSync(folder).toSorted();
  return files.map((file) => readFile(file.replace(/\.yaml$/, ""), readFileSync(new URL(file, folder), "utf8")));
}

/** The text of a file of definitions/: one CustomResourceDefinition as YAML. */
export function readDefinition(name: string): Buffer {
  return readFileSync(new URL(`${name}.yaml`, definitionsFolder));
}

function readFile(subject: string, text: string): InputFile {
  const written = parse(text) as WrittenFile;
  const expanded = written.inputs.flatMap((input) =>
    combinations(input.each ?? {}).map((words) => ({ name: fill(input.name, words), words, steps: input.steps })),
  );
  const names = expanded.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new Error(`Cannot read inputs/${subject}.yaml: two inputs are named "${twice}"`);
  return {
    subject,
    definitions: written.definitions ?? [],
    managedFields: written.managedFields ?? false,
    inputs: expanded.map(({ name, words, steps }, i) => {
      const namespace = `${subject}-${i}`;
      const all = { ...written.words, ...words, ns: namespace };
      return { name, namespace, steps: steps.map((step) => readStep(step, all)) };
    }),
  };
}

function readStep(text: string, words: Words): Step {
  const [, request = "", rest = ""] = /^([^\n]*)\n?([^]*)$/.exec(text) ?? [];
  const [method = "", path = "", kind = "json"] = fill(request, words).split(" ");
  const body = fill(rest, words);
  const encoding = kind === "yaml-utf16" ? "utf16le" : "utf8";
  return {
    method,
    path,
    contentType: contentTypes[kind] ?? kind,
    body: body === "" ? undefined : Buffer.from(body, encoding),
  };
}

/** `{name}` becomes its text, and a text may hold further names; what is no name of ours stays. */
function fill(text: string, words: Words): string {
  const filled = text.replaceAll(/\{([a-z]+)\}/g, (whole, name: string) => words[name] ?? whole);
  return filled === text ? text : fill(filled, words);
}

function combinations(each: Readonly<Record<string, readonly string[]>>): readonly Words[] {
  return Object.entries(each).reduce<readonly Words[]>(
    (all, [name, texts]) => all.flatMap((words) => texts.map((text) => ({ ...words, [name]: text }))),
    [{}],
  );
}
