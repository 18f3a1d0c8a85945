import { readFileSync } from "node:fs";
import { ownVersion } from "../commands/version.ts";
import type { OperatorWords } from "./operator-words.ts";

/** Where the packages of setpoint come from: a registry, or a checkout of this repository whose sources are run. */
export type Origin = "registry" | "checkout";

const folder = new URL("../../templates/operator/", import.meta.url);

/** The files of a new project, text by path. */
export function scaffoldFiles(words: OperatorWords, origin: Origin): ReadonlyMap<string, string> {
  const paths = Object.entries(templates(words.name)).filter(
    ([path]) => origin === "checkout" || path !== "vitest.config.ts",
  );
  return new Map(paths.map(([path, template]) => [path, fill(template, words, origin)]));
}

/** Template by path. The templates end in `.txt`, so that no tool takes them for sources of this package. */
function templates(name: string): Readonly<Record<string, string>> {
  return {
    "package.json": "package.json.txt",
    "tsconfig.json": "tsconfig.json.txt",
    // Only a checkout has to say that packages are their sources.
    "vitest.config.ts": "vitest.config.ts.txt",
    ".gitignore": "gitignore.txt",
    "README.md": "README.md.txt",
    Dockerfile: "Dockerfile.txt",
    ".dockerignore": "dockerignore.txt",
    "src/index.ts": "index.ts.txt",
    [`src/${name}.test.ts`]: "operator.test.ts.txt",
  };
}

function fill(template: string, { name, kind }: OperatorWords, origin: Origin): string {
  const conditions = origin === "checkout" ? '\n    "customConditions": ["@setpoint/source"],' : "";
  return readFileSync(new URL(template, folder), "utf8")
    .replaceAll("{{NAME}}", name)
    .replaceAll("{{KIND}}", kind)
    .replaceAll("{{VERSION}}", ownVersion())
    .replaceAll("{{CONDITIONS}}", conditions);
}
