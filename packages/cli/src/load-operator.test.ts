import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { candy, ownFolder } from "./own-folder.fixture.ts";
import { setpoint } from "./setpoint.fixture.ts";

const folder = ownFolder("load");

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

// What Node says of a syntax that it does not take differs with what loads modules: here that is the test
// runner.
test.each([
  ["throws.ts", 'export const name = "x";\nthrow new Error("the sugar is out");', "the sugar is out (FILE:2)"],
  ["says.ts", 'throw "no sugar";', "no sugar"],
  ["undefined.ts", "const none = undefined as unknown as { a: string };\nnone.a;", /of undefined .*\(FILE:2\)$/],
  ["import.ts", 'import "./none.ts";', /none\.ts/],
])("a file that cannot be imported is one sentence with the place, and no stack: %s", async (name, text, why) => {
  const path = file(name, text);
  const { code, err } = await setpoint("manifests", path);
  expect(code).toBe(1);
  const start = `Cannot print the manifests of "${path}": the import failed: `;
  expect(err.startsWith(start)).toBe(true);
  const rest = err.slice(start.length).trimEnd().replaceAll(path, "FILE");
  if (typeof why === "string") expect(rest).toBe(why);
  else expect(rest).toMatch(why);
  expect(err).not.toContain("\n    at ");
});

test("a module without a default export differs in its message from one whose default export is something else", async () => {
  const none = file("none.ts", "export const a = 1;");
  expect((await setpoint("manifests", none)).err).toContain("it has no default export; write `export default");
  const number = file("number.ts", "export default 7;");
  expect((await setpoint("manifests", number)).err).toContain("its default export is not an operator; write");
});

test.each([
  [
    "text.yaml",
    "just text",
    "it holds a document without kind, expected CompositeControllers and CustomResourceDefinitions",
  ],
  ["empty.yaml", "", "it holds no CompositeController"],
])("a YAML file that declares no operator is named: %s", async (name, text, why) => {
  const path = file(name, text);
  expect((await setpoint("manifests", path)).err).toBe(`Cannot read an operator from "${path}": ${why}\n`);
});

test("YAML in another encoding is refused by its name", async () => {
  const path = file("utf16.yaml", "");
  writeFileSync(path, Buffer.from("kind: CompositeController\n", "utf16le"));
  const why = "the text is UTF-16LE without a byte order mark, expected UTF-8";
  expect((await setpoint("manifests", path)).err).toContain(`Cannot read "${path}": ${why}\n`);
});

test("YAML with tabs is refused with their place", async () => {
  const path = file("tabs.yaml", "kind:\tConfigMap\n\tmetadata: {}\n");
  expect((await setpoint("run", path)).err).toContain(
    `Cannot read "${path}": Tabs are not allowed as indentation at line 2, column 1\n`,
  );
});

test.each([
  [["run", candy, "b.ts"], 'Cannot run an operator: unexpected argument "b.ts"'],
  [["plan", candy, "b.ts"], 'Cannot plan an operator: unexpected argument "b.ts"'],
  [["dev", candy, "b.ts"], 'Cannot develop an operator: unexpected argument "b.ts"'],
  [["record", candy, "b.ts"], 'Cannot record an operator: unexpected argument "b.ts"'],
  [["replay", "a.jsonl", candy, "b.ts"], 'Cannot replay: unexpected argument "b.ts"'],
  [["uninstall", candy, "b.ts"], 'Cannot uninstall an operator: unexpected argument "b.ts"'],
  [["bundle", "--check", "bundle", "b.ts"], 'Cannot make a bundle: unexpected argument "b.ts"'],
  [["why", "candy", "lolly", "mint"], 'Cannot explain an object: unexpected argument "mint"'],
  [["why", "candy/lolly", "mint"], 'Cannot explain an object: unexpected argument "mint"'],
  [
    ["why", "candy", "lolly", "--url", "nowhere"],
    "Cannot use --url nowhere: expected an address such as http://127.0.0.1:8080",
  ],
  [
    ["dev", "package.json"],
    'Cannot develop "package.json": expected a module (.ts, .js, .mts, .mjs) that exports an operator, or a YAML file that declares one',
  ],
  [
    ["manifests", candy, "--image", ""],
    'Cannot use --image "": expected a name such as registry.example.com/candy:1.2',
  ],
  [
    ["manifests", candy, "--output", "helm", folder, "--chart-version", "x"],
    "Cannot use --chart-version x: expected a semantic version, as 1.2.3",
  ],
])("what is too much or of no use is refused before anything is done: %j", async (args, sentence) => {
  const { code, err } = await setpoint(...args);
  expect(err.split("\n")[0]).toBe(sentence);
  expect(code).toBe(2);
});
