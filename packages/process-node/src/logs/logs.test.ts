import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { dropOldLogs, logFile, rotatedFile } from "./container-log.ts";
import { rotateLog } from "./log-rotation.ts";
import { type LogOptions, readLog } from "./log-reader.ts";

function world() {
  const directory = mkdtempSync(join(tmpdir(), "process-node-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const clock = new VirtualClock(seededRandom(1));
  const file = logFile(directory, "main", 0);
  mkdirSync(dirname(file), { recursive: true });
  const entry = (text: string, tag = "F"): void => {
    const time = `${new Date(clock.now()).toISOString().slice(0, 23)}000000Z`;
    appendFileSync(file, `${time} stdout ${tag} ${text}\n`);
  };
  /** Whole lines. */
  const write = (text: string): void =>
    text
      .slice(0, -1)
      .split("\n")
      .forEach((line) => entry(line));
  const read = async (options: Partial<LogOptions> = {}, isOver = () => true): Promise<string> => {
    let text = "";
    const all = { follow: false, timestamps: false, ...options };
    const done = (async () => {
      for await (const part of readLog(clock, file, all, isOver, new AbortController().signal)) text += part;
    })();
    if (!all.follow) await clock.run(1_000);
    await done;
    return text;
  };
  return { directory, clock, file, entry, write, read };
}

test("partial entries are parts of one line", async () => {
  const { entry, read } = world();
  entry("one, ", "P");
  entry("ä");
  entry("");
  expect(await read()).toBe("one, ä\n\n");
});

test("an entry that is not complete is not read yet", async () => {
  const { file, write, read } = world();
  write("1\n");
  appendFileSync(file, "2026-01-01T00:00:00.000000000Z stdout F ha");
  expect(await read()).toBe("1\n");
});

test("the last lines of a long log are found from its end, over the rotated file", async () => {
  const { file, write, read } = world();
  write(Array.from({ length: 20_000 }, (_, i) => `line ${i}\n`).join(""));
  expect(await read({ tailLines: 2 })).toBe("line 19998\nline 19999\n");
  rotateLog(file, () => {});
  expect(existsSync(rotatedFile(file))).toBe(false);
  write(`${"x".repeat(8_000)}\n`.repeat(1_400));
  rotateLog(file, () => writeFileSync(file, ""));
  write("new\n");
  expect(await read({ tailLines: 1 })).toBe("new\n");
  const lines = (await read({ tailLines: 1_402 })).split("\n");
  expect([lines[0], lines[1]?.length, lines.at(-2)]).toEqual(["line 19999", 8_000, "new"]);
});

test("tailLines, since, limitBytes and timestamps", async () => {
  const { clock, write, read } = world();
  write("1\n2\n3\n");
  await clock.run(60_000);
  write("4\n5\n");
  expect(await read({ tailLines: 2 })).toBe("4\n5\n");
  expect(await read({ tailLines: 0 })).toBe("");
  expect(await read({ sinceMs: clock.now() - 30_000 })).toBe("4\n5\n");
  expect(await read({ limitBytes: 5 })).toBe("1\n2\n3");
  expect(await read({ tailLines: 1, timestamps: true })).toBe("2026-01-01T00:01:00.000000000Z 5\n");
});

test.each([
  ["2026-01-01T00:00:00.123456789+00:00", "2026-01-01T00:00:00.123456789Z"],
  ["2026-01-01T01:30:00.123456789+02:00", "2025-12-31T23:30:00.123456789Z"],
  ["2026-01-01T00:00:00.000000001-09:30", "2026-01-01T09:30:00.000000001Z"],
])("a time of the monitor, %s, is given as UTC, %s", async (written, given) => {
  const { file, read } = world();
  appendFileSync(file, `${written} stdout F 1\n`);
  expect(await read({ timestamps: true })).toBe(`${given} 1\n`);
});

test("limitBytes counts bytes and never cuts a character in two", async () => {
  const { write, read } = world();
  write("äöü\n");
  expect(await read({ limitBytes: 5 })).toBe("äö");
});

test("follow gives lines as they come, and ends with the container", async () => {
  const { clock, write, read } = world();
  let isOver = false;
  write("1\n");
  const text = read({ follow: true }, () => isOver);
  await clock.run(1_000);
  write("2\n");
  await clock.run(1_000);
  write("3\n");
  isOver = true;
  await clock.run(1_000);
  expect(await text).toBe("1\n2\n3\n");
});

test("follow loses nothing when the file is rotated", async () => {
  const { clock, file, write, read } = world();
  let isOver = false;
  const line = `${"x".repeat(8_000)}\n`;
  const expected = Array.from({ length: 25 }, (_, i) => `${i}${line}`.repeat(125));
  const text = read({ follow: true }, () => isOver);
  for (const part of expected) {
    write(part);
    rotateLog(file, () => writeFileSync(file, ""));
    await clock.run(100);
  }
  isOver = true;
  await clock.run(1_000);
  expect(existsSync(rotatedFile(file))).toBe(true);
  expect(statSync(file).size).toBeLessThan(11 * 1024 * 1024);
  expect((await text) === expected.join("")).toBe(true);
});

test("the logs of two runs are kept, older ones are dropped", () => {
  const { directory } = world();
  for (let attempt = 0; attempt < 4; attempt++) {
    writeFileSync(logFile(directory, "main", attempt), "");
    dropOldLogs(directory, "main", attempt);
  }
  expect([0, 1, 2, 3].map((attempt) => existsSync(logFile(directory, "main", attempt)))).toEqual([
    false,
    false,
    true,
    true,
  ]);
});
