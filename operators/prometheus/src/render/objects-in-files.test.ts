import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readObjects } from "./objects-in-files.ts";

test("scalars are those of kubectl", () => {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-objects-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "a.yaml");
  writeFileSync(file, "kind: A\napiVersion: v1\nmetadata: {name: a}\nspec: {mode: 0644, flag: on, time: 12:30:45}\n");
  expect(readObjects(file, "default").map(({ value }) => value["spec"])).toEqual([
    { mode: 420, flag: true, time: "12:30:45" },
  ]);
});
