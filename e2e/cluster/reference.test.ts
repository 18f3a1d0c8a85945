import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findReference } from "./reference.ts";

function folderWithScript(): string {
  const folder = mkdtempSync(join(tmpdir(), "reference-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "cluster.sh"), "B=${BIN:-/somewhere/bin}\n");
  return folder;
}

test("without the script, the folder that was looked into is named", () => {
  expect(findReference({ SETPOINT_REFERENCE: "/nowhere" })).toMatch(/^there is no cluster.sh in "\/nowhere"/);
});

test("without programs or rights, the first thing that is missing is named", () => {
  expect(findReference({ SETPOINT_REFERENCE: folderWithScript(), PATH: "" })).toMatch(
    /^(these programs are not installed: containerd, |namespaces with containers in them need root)/,
  );
});
