import { readFileSync } from "node:fs";
import type { OperatorWords } from "./operator-words.ts";
import type { Origin } from "./own-package.ts";

const folder = new URL("../../templates/operator/", import.meta.url);

/** The files of a new project, text by path; its `package.json` asks for setpoint by `specifier`. */
export function scaffoldFiles(words: OperatorWords, origin: Origin, specifier: string): ReadonlyMap<string, string> {
  const paths = Object.entries(templates(words.name));
  return new Map(paths.map(([path, template]) => [path, fill(template, words, origin, specifier)]));
}

/** Template by path. The templates end in `.txt`, so that no tool takes them for sources of this package. */
function templates(name: string): Readonly<Record<string, string>> {
  return {
    "package.json": "package.json.txt",
    "tsconfig.json": "tsconfig.json.txt",
    "vitest.config.ts": "vitest.config.ts.txt",
    ".gitignore": "gitignore.txt",
    "README.md": "README.md.txt",
    Dockerfile: "Dockerfile.txt",
    ".dockerignore": "dockerignore.txt",
    "src/index.ts": "index.ts.txt",
    [`src/${name}.test.ts`]: "operator.test.ts.txt",
  };
}

/** Only a checkout has to say that packages are their sources. */
const sources = `
// The packages of setpoint are their sources here. Remove these conditions when they come from a registry.
const resolve = { conditions: ["@setpoint/source"] };
`;

function fill(template: string, { name, kind, shortName }: OperatorWords, origin: Origin, specifier: string): string {
  const conditions = origin === "checkout" ? '\n    "customConditions": ["@setpoint/source"],' : "";
  return readFileSync(new URL(template, folder), "utf8")
    .replaceAll("{{NAME}}", name)
    .replaceAll("{{KIND}}", kind)
    .replaceAll("{{SHORT}}", shortName)
    .replaceAll("{{SETPOINT}}", specifier)
    .replaceAll("{{CONDITIONS}}", conditions)
    .replaceAll("{{SOURCES}}", origin === "checkout" ? sources : "")
    .replaceAll("{{RESOLVE}}", origin === "checkout" ? "resolve, ssr: { resolve }, " : "");
}
