/** What the README tells a new user to type in a clone in which nothing is installed or built. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = new URL("..", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "setpoint-fresh-"));
const clone = join(folder, "setpoint");
/** As a new user has it: without the programs of this checkout's packages. */
const path = (process.env["PATH"] ?? "").split(delimiter).filter((each) => !each.includes("node_modules"));
const env = { HOME: process.env["HOME"] ?? folder, PATH: path.join(delimiter) };

beforeAll(() => void execFileSync("git", ["clone", "--quiet", root, clone]));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function type(command: string): { readonly code: number | null; readonly output: string } {
  const [program = "", ...args] = command.split(" ");
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: clone, env, encoding: "utf8" });
  return { code: status, output: stdout + stderr };
}

test("npm run pack installs and builds what it needs, and prints the path of the tarball", () => {
  const { code, output } = type("npm run pack");
  expect(output).toMatch(/setpoint-\d+\.\d+\.\d+\.tgz/);
  expect(code).toBe(0);
  const [tarball = ""] = output.match(/\/\S+\.tgz/) ?? [];
  expect(existsSync(tarball)).toBe(true);
});

test("npm run types finds the project and no mistake", () => {
  expect(type("npm run types")).toMatchObject({ code: 0 });
});
