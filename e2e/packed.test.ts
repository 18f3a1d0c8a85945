/** What a registry would hand out: the packages packed, installed in an empty folder, and a project made with them. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { expectStartWorks, expectTestPasses, runProgram } from "./operator-project.ts";

const root = new URL("..", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "setpoint-packed-"));
const project = join(folder, "ice-cream");
const tidyUp = (): void => rmSync(folder, { recursive: true, force: true });
afterAll(tidyUp);

const tarballs = await pack();
const home = join(folder, "home");
mkdirSync(home);
writeFileSync(join(home, "package.json"), '{ "private": true }');
const without = await installReason(home);
if (without !== undefined) {
  console.warn(`skipped: packages as a registry hands them out: ${without}`);
  // Where all tests are skipped, nothing is run after them.
  tidyUp();
}

/** Builds all packages and packs them; their files. */
async function pack(): Promise<readonly string[]> {
  const tsc = join(root, "node_modules/.bin/tsc");
  const built = await runProgram(tsc, ["-b", "packages/cli", "packages/testing"], root);
  if (built.code !== 0) throw new Error(built.text);
  const names = readdirSync(join(root, "packages")).map((name) => `./packages/${name}`);
  const packed = await runProgram("npm", ["pack", "--pack-destination", folder, ...names], root);
  if (packed.code !== 0) throw new Error(packed.text);
  const files = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  expect(files.length).toBe(names.length);
  return files.map((name) => join(folder, name));
}

/** Installs the packages; why that is not possible on this machine: what they depend on comes from a registry. */
async function installReason(directory: string): Promise<string | undefined> {
  // Without a registry that shall be known soon.
  const retries = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000"];
  const flags = ["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error", ...retries];
  const { code, text } = await runProgram("npm", ["install", ...flags, ...tarballs], directory);
  if (code === 0) return undefined;
  const offline = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED/.exec(text);
  if (offline === null) throw new Error(text);
  return `npm has no registry (${offline[0]})`;
}

test.skipIf(without !== undefined)("the installed command makes a project whose test and start work", async () => {
  const setpoint = join(home, "node_modules/.bin/setpoint");
  expect((await runProgram(setpoint, ["version"], folder)).text).toMatch(/^setpoint \d/);
  const made = await runProgram(setpoint, ["create", "operator", "ice-cream"], folder);
  expect(made).toMatchObject({ code: 0, text: expect.not.stringContaining("vitest.config.ts") });
  expect(readFileSync(join(project, "package.json"), "utf8")).not.toContain("file:");

  expect(await installReason(project)).toBeUndefined();
  await expectTestPasses(project);
  expect(await runProgram("npm", ["run", "types"], project)).toMatchObject({ code: 0 });
  expect((await runProgram("npm", ["run", "-s", "manifests"], project)).text).toContain("kind: Deployment\n");
  await expectStartWorks(project);
});
