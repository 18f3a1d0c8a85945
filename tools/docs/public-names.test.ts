import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const root = new URL("../..", import.meta.url).pathname;

/** The entries of all packages: index files named in `exports`. */
function entries(): readonly string[] {
  const manifests = execFileSync("git", ["ls-files", "packages/*/package.json", "operators/*/package.json"], {
    cwd: root,
    encoding: "utf8",
  });
  return manifests
    .split("\n")
    .filter(Boolean)
    .flatMap((file) => {
      const { exports } = JSON.parse(readFileSync(`${root}/${file}`, "utf8")) as {
        readonly exports: Readonly<Record<string, Readonly<Record<string, string>>>>;
      };
      const sources = Object.values(exports).map((each) => each["@setpoint/source"] ?? "");
      return sources
        .filter((source) => source.endsWith("index.ts"))
        .map((source) => `${file.replace("package.json", "")}${source.replace("./", "")}`);
    })
    .filter((entry) => !reexporting.test(entry));
}

/**
 * The generated API has hundreds of names, and its generator is its test; `setpoint/testing` has the names of
 * its package.
 */
const reexporting = /^packages\/(api|setpoint\/src\/(kinds|testing))\//;

function namesOf(entry: string): readonly string[] {
  const text = readFileSync(`${root}/${entry}`, "utf8");
  const lists = [...text.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, list = ""]) => list.split(","));
  const names = lists.map(
    (name) =>
      name
        .replace(/\/\/.*|type /g, "")
        .trim()
        .split(" as ")
        .at(-1)
        ?.trim() ?? "",
  );
  return names.filter(Boolean).toSorted();
}

test("what each entry exports is what the snapshot says, so that an addition is seen in review", async () => {
  const lines = entries()
    .toSorted()
    .flatMap((entry) => [entry, ...namesOf(entry).map((name) => `  ${name}`), ""]);
  await expect(lines.join("\n")).toMatchFileSnapshot("public-names.txt");
});

test("no entry exports everything of another file", () => {
  for (const entry of entries()) expect(readFileSync(`${root}/${entry}`, "utf8")).not.toMatch(/export \*/);
});

test("the front door has at most 40 names", () => {
  expect(namesOf("packages/setpoint/src/index.ts").length).toBeLessThanOrEqual(40);
});
