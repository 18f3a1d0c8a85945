import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ownFolderInside, root } from "../own-folder.fixture.ts";
import { setpoint } from "../setpoint.fixture.ts";
import { parseOperatorName } from "./operator-words.ts";
import { scaffoldFiles } from "./scaffold-files.ts";

const folder = ownFolderInside("create");

/**
 * Runs a program of the repository in the new project, as its npm scripts do; resolves to what it prints when
 * it fails.
 */
function inProject(directory: string, program: string, ...args: readonly string[]): Promise<string> {
  return inProjectWith("", directory, program, ...args);
}

function inProjectWith(
  nodeOptions: string,
  directory: string,
  program: string,
  ...args: readonly string[]
): Promise<string> {
  const env = { ...process.env, NODE_OPTIONS: nodeOptions };
  return new Promise((resolve) =>
    execFile(
      process.execPath,
      [join(root, "node_modules", program), ...args],
      { cwd: directory, env },
      (error, out, err) => resolve(error === null ? "" : `${out}${err}`),
    ),
  );
}

/** Preloaded, it makes a Node say that it is an older one. */
const olderNode = `data:text/javascript,${encodeURIComponent(
  'Object.defineProperties(process, { version: { value: "v20.20.2" }, versions: { value: { ...process.versions, node: "20.20.2" } } })',
)}`;

/** As a test takes on a busy machine. */
const slowTest = `import { test } from "vitest";
test("takes longer than vitest's own limit", () => new Promise((resolve) => setTimeout(resolve, 5_500)));
`;

test("the test and the type check of a new project pass at once", { timeout: 120_000 }, async () => {
  const directory = join(folder, "ice-cream");
  const { code, out } = await setpoint("create", "operator", "ice-cream", "--directory", directory);
  expect(code).toBe(0);
  expect(out).toContain("  src/ice-cream.test.ts\n");
  expect(out).toContain(`then npm test\nWith a cluster, `);
  expect(
    readdirSync(directory, { recursive: true, withFileTypes: true }).filter((each) => each.isFile()).length,
  ).toBeLessThanOrEqual(12);
  writeFileSync(join(directory, "src/slow.test.ts"), slowTest);
  expect(await inProject(directory, "vitest/vitest.mjs", "run")).toBe("");
  expect(await inProject(directory, "typescript/bin/tsc")).toBe("");
  const printed = await setpoint("manifests", join(directory, "src/index.ts"));
  expect(printed.code).toBe(0);
  expect(printed.out).toContain("name: icecreams.ice-cream.example.com\n");
});

test.each([
  [
    "of a new project",
    'setpoint needs Node 24 or newer; install it from https://nodejs.org, or for this folder with "npm install node@26".',
  ],
  ["of the checkout", 'they need Node 24 or newer; "npx vitest" uses that of node_modules.'],
])("vitest %s says in one sentence that its Node is too old", async (where, advice) => {
  const directory = join(folder, "older-node");
  if (where === "of a new project") await setpoint("create", "operator", "candy", "--directory", directory);
  const place = where === "of a new project" ? directory : root;
  expect(await inProjectWith(`--import=${olderNode}`, place, "vitest/vitest.mjs", "run", "none.test.ts")).toBe(
    `Cannot run the tests with Node v20.20.2: ${advice}\n`,
  );
});

test("a folder that holds something is refused, and nothing is written", async () => {
  const directory = join(folder, "used");
  mkdirSync(directory);
  writeFileSync(join(directory, "notes.txt"), "mine");
  expect(await setpoint("create", "operator", "candy", "--directory", directory)).toEqual({
    code: 1,
    out: "",
    err: `Cannot create the operator "candy" in "${directory}": the folder holds "notes.txt", expected an empty folder or none; nothing was written\n`,
  });
  expect(readdirSync(directory)).toEqual(["notes.txt"]);
});

test("a folder that nobody can make is refused in words", async () => {
  const file = join(folder, "file");
  writeFileSync(file, "");
  const directory = join(file, "candy");
  const { code, err } = await setpoint("create", "operator", "candy", "--directory", directory);
  expect(err).toContain(`Cannot use "${directory}" as the project's folder: expected a writable folder`);
  expect(code).toBe(1);
});

test.each(["Candy", "1st", "a_b", "a.b", "-a", "a-", "", "../up", "a".repeat(41), "config-map"])(
  "the name %j is refused, and nothing is written",
  async (name) => {
    const directory = join(folder, "refused");
    const { code, err } = await setpoint("create", "operator", "--directory", directory, "--", name);
    expect(code).toBe(2);
    expect(err).toMatch(/^Cannot create the operator .*expected .*\nUsage: setpoint create operator NAME/);
    expect(existsSync(directory)).toBe(false);
  },
);

test("a project of the npm package refers to no sources, and asks for one package of ours", () => {
  const files = scaffoldFiles(parseOperatorName("candy"), "package", "^0.1.0");
  const { dependencies } = JSON.parse(files.get("package.json") ?? "") as { dependencies: Record<string, string> };
  expect(dependencies).toEqual({ setpoint: "^0.1.0", zod: expect.any(String) });
  expect(files.get("vitest.config.ts")).toContain("testTimeout: 60_000");
  for (const text of files.values()) expect(text).not.toMatch(/@setpoint\/|\{\{/);
});

test.each([
  ["ice-cream", "ic"],
  ["candy", "cn"],
  ["aeon", "an"],
  ["a", "a"],
  // Those of Kubernetes stay theirs.
  ["cloud-map", "cloud"],
  ["scoop", "scoop"],
])("the short name of %s is %s", (name, short) => {
  expect(parseOperatorName(name).shortName).toBe(short);
});

test("create wants to know what, and the name", async () => {
  expect((await setpoint("create")).err).toMatch(/^Cannot create a project: expected "operator" and a name\nUsage: /);
  expect((await setpoint("create", "operator")).err).toMatch(/^Cannot create an operator: its name is missing, /);
  expect((await setpoint("create", "webhook", "candy")).code).toBe(2);
});
