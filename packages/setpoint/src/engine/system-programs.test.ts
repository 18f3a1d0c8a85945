import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sleep } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { systemPrograms, type ProgramCall } from "setpoint/hook";
import { afterAll, describe, expect, test } from "vitest";

const { clock } = systemHost({ write: () => {} });
const folder = mkdtempSync(join(tmpdir(), "setpoint-programs-"));
afterAll(() => rmSync(folder, { recursive: true }));
const programs = systemPrograms({ clock, folder, filesMax: 3 });

const call = (command: readonly string[], more: Partial<ProgramCall> = {}): ProgramCall => ({
  ...{ command, input: "", environment: {}, timeoutMs: 10_000, outputBytesMax: 1_000 },
  ...more,
});
const run = (command: readonly string[], more: Partial<ProgramCall> = {}, signal = new AbortController().signal) =>
  programs.run(call(command, more), signal);
const node = (code: string): readonly string[] => [process.execPath, "-e", code];

describe("a program", () => {
  test("reads its input, and ends with what it wrote and said", async () => {
    const code = "process.stdin.pipe(process.stdout); process.stderr.write('warm'); process.exitCode = 3";
    expect(await run(node(code), { input: "hello" })).toEqual({ code: 3, stdout: "hello", stderr: "warm" });
  });

  test("sees no shell, no environment of ours, and the folder as its own", async () => {
    process.env["SETPOINT_TEST_SECRET"] = "x";
    const seen = await run(
      node("console.log(process.cwd(), process.argv[1], Object.keys(process.env).sort().join())"),
      {
        environment: { MODE: "fast" },
      },
    );
    expect(seen.stdout).toMatch(/HOME,LANG,MODE,PATH\n$/);
    expect(seen.stdout).toContain(folder);
    expect((await run(["printf", "%s", "$(id) * ;"])).stdout).toBe("$(id) * ;");
  });

  test("that does not read what it is given is no mistake", async () => {
    expect(await run(["true"], { input: "x".repeat(1_000_000) })).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  test("that is missing, or is no program, is reported", async () => {
    writeFileSync(join(folder, "notes.txt"), "");
    await expect(run(["no-such-program", "x"])).rejects.toMatchObject({
      code: "ERR_PROGRAM",
      message: 'Cannot run "no-such-program x": there is no such program, or its folder is missing',
    });
    await expect(run(["./notes.txt"])).rejects.toThrow("it is no program that may be run");
  });

  test("that takes too long or writes too much is ended, with all that it has started", async () => {
    const mark = join(folder, "mark");
    const child = ["sh", "-c", `(sleep 0.4; touch ${mark}) & sleep 5`];
    await expect(run(child, { timeoutMs: 100 })).rejects.toThrow("it has not ended within 0.1 s");
    await expect(run(node("setInterval(() => process.stdout.write('x'.repeat(600)))"))).rejects.toThrow(
      "it writes more than 1000 bytes",
    );
    await sleep(clock, 500);
    await expect(programs.fingerprint(["mark"])).rejects.toThrow("there is no such file");
  });

  test("is ended when the run is", async () => {
    const ending = new AbortController();
    const ended = run(["sleep", "5"], {}, ending.signal);
    ending.abort(new Error("the manager stops"));
    await expect(ended).rejects.toThrow("the manager stops");
  });
});

test("a fingerprint changes with any file, and is bounded", async () => {
  mkdirSync(join(folder, "chart/templates"), { recursive: true });
  writeFileSync(join(folder, "chart/templates/a.yaml"), "a");
  const before = await programs.fingerprint(["./chart"]);
  expect(await programs.fingerprint(["./chart"])).toBe(before);
  writeFileSync(join(folder, "chart/templates/b.yaml"), "b");
  const more = await programs.fingerprint(["./chart"]);
  expect(more).not.toBe(before);
  writeFileSync(join(folder, "chart/templates/b.yaml"), "bb");
  expect(await programs.fingerprint(["./chart"])).not.toBe(more);
  for (const name of ["c", "d"]) writeFileSync(join(folder, "chart", name), "");
  await expect(programs.fingerprint(["./chart"])).rejects.toThrow("there are more than 3 files");
});
