/**
 * `setpoint create operator` from a checkout: the two commands of a new project, in a folder of a user's own.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { expectStartWorks, expectTestPasses, runProgram } from "./operator-project.ts";

const bin = new URL("../packages/cli/bin/setpoint.mjs", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "setpoint-create-"));
const project = join(folder, "ice-cream");
afterAll(() => rmSync(folder, { recursive: true }));

test("npm test passes at once", async () => {
  const args = [bin, "create", "operator", "ice-cream"];
  expect(await runProgram(process.execPath, args, folder)).toMatchObject({ code: 0 });
  await expectTestPasses(project);
});

test("npm start installs the kind and does what the test says", () => expectStartWorks(project));
