/** What the documentation names can be imported by an author: from an entry of the package `setpoint`. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = new URL("../..", import.meta.url).pathname;
const pages = [...readdirSync(join(root, "docs")).map((name) => `docs/${name}`), "README.md"].filter((name) =>
  name.endsWith(".md"),
);
const { exports } = JSON.parse(readFileSync(join(root, "packages/setpoint/package.json"), "utf8")) as {
  readonly exports: Readonly<Record<string, object>>;
};
const entries = Object.keys(exports).map((subpath) => `setpoint${subpath.slice(1)}`);

/** The values of each entry; types are the compiler's. */
const valuesOf = new Map<string, ReadonlySet<string>>();
for (const entry of entries) valuesOf.set(entry, new Set(Object.keys((await import(entry)) as object)));

/** The exported functions and classes of all workspace packages, which a page may mean by a name. */
const everything: ReadonlySet<string> = new Set(
  readFileSync(join(root, "tools/docs/public-names.txt"), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("  "))
    .map((line) => line.trim()),
);

function codeOf(page: string): readonly string[] {
  const text = readFileSync(join(root, page), "utf8");
  return [/```ts\n(.*?)```/gs, /`([^`\n]+)`/g, /^ {4}(.*)$/gm].flatMap((form) =>
    [...text.matchAll(form)].map(([, code = ""]) => code),
  );
}

test.each(pages)("every import that %s shows is one that an author can write", (page) => {
  for (const code of codeOf(page)) {
    for (const [, list = "", entry = ""] of code.matchAll(/import \{([^}]*)\} from "((?:@setpoint|setpoint)[^"]*)"/g)) {
      const values = valuesOf.get(entry);
      expect(entries).toContain(entry);
      for (const name of list.split(",").map((each) => each.trim())) {
        if (name !== "" && !name.startsWith("type ")) expect(values, `${name} of ${entry}`).toContain(name);
      }
    }
  }
});

test.each(pages)("%s names no workspace package, which an author cannot install", (page) => {
  const named = [...readFileSync(join(root, page), "utf8").matchAll(/@setpoint\/[a-z-]+/g)].map(([name]) => name);
  // The condition under which the repository runs its sources.
  expect(named.filter((name) => name !== "@setpoint/source")).toEqual([]);
});

/**
 * Names that mean something else on a page: functions of Kubernetes, of a test or of a page's own example.
 */
const otherMeaning: ReadonlySet<string> = new Set(["failure", "forbidden", "invalid", "namespaces"]);

test.each(pages)("every function of ours that %s calls is exported by an entry", (page) => {
  const known = new Set([...valuesOf.values()].flatMap((values) => [...values]));
  const called = codeOf(page).flatMap((code) =>
    [...code.matchAll(/(?<![\w.@/-])([A-Za-z]\w+)(?=\()/g)].map(([, name = ""]) => name),
  );
  const missing = called.filter((name) => everything.has(name) && !known.has(name) && !otherMeaning.has(name));
  expect([...new Set(missing)]).toEqual([]);
});
