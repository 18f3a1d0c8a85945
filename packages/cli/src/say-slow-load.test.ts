import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const hook = new URL("../bin/say-slow-load.mjs", import.meta.url).href;

/** What a program writes to its error output whose modules take this long to load. */
function errorsOf(loadMs: number): string {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-slow-load-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const wait = `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${loadMs});`;
  writeFileSync(join(folder, "first.mjs"), wait);
  writeFileSync(join(folder, "second.mjs"), "");
  const start = `import { sayWhenLoadIsSlow } from "${hook}"; const loaded = sayWhenLoadIsSlow();`;
  const load = `await import("./first.mjs"); await import("./second.mjs"); loaded(); await import("node:os");`;
  writeFileSync(join(folder, "main.mjs"), `${start}${load}`);
  return spawnSync(process.execPath, [join(folder, "main.mjs")], { encoding: "utf8" }).stderr;
}

test("a program that takes long to load says so, once", () => {
  expect(errorsOf(3_000)).toMatch(/^ {2}loading the program, \d+ s so far: this machine is busy …\n$/);
});

test("a program that is quick to load says nothing", () => {
  const startedMs = performance.now();
  const errors = errorsOf(0);
  // On a machine that needs seconds to start a process, nothing is quick.
  if (performance.now() - startedMs < 3_000) expect(errors).toBe("");
});
