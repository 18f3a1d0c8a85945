import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { dropOldLogs, logFile, logFileBytesMax, openContainerLog, rotatedFile } from "./container-log.ts";
import { type LogOptions, readLog } from "./log-reader.ts";

function world() {
  const directory = mkdtempSync(join(tmpdir(), "process-node-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const clock = new VirtualClock(seededRandom(1));
  const file = logFile(directory, "main", 0);
  const log = openContainerLog(clock, file);
  onTestFinished(() => log.close());
  const write = (text: string): void => log.write("stdout", Buffer.from(text));
  const read = async (options: Partial<LogOptions> = {}, isOver = () => true): Promise<string> => {
    let text = "";
    const all = { follow: false, timestamps: false, ...options };
    for await (const part of readLog(clock, file, all, isOver, new AbortController().signal)) text += part;
    return text;
  };
  return { directory, clock, file, log, write, read };
}

test("lines come back as they were written, whatever the pieces", async () => {
  const { write, log, read } = world();
  for (const piece of ["on", "e\ntw", "o\n", "\n", "ä", " three"]) write(piece);
  expect(await read()).toBe("one\ntwo\n\n");
  log.close();
  expect(await read()).toBe("one\ntwo\n\nä three\n");
});

test("a very long line is kept whole", async () => {
  const { write, read } = world();
  const line = "x".repeat(100_000);
  write(`${line}\nend\n`);
  write(line.slice(0, 70_000));
  write(`${line.slice(70_000)}\n`);
  expect(await read()).toBe(`${line}\nend\n${line}\n`);
});

test("both streams are kept apart until their lines are complete", async () => {
  const { write, log, read } = world();
  write("out");
  log.write("stderr", Buffer.from("err\n"));
  write("put\n");
  expect(await read()).toBe("err\noutput\n");
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
  const line = `${"x".repeat(1_000_000)}\n`;
  const expected = Array.from({ length: 15 }, (_, i) => `${i}${line}`);
  const text = read({ follow: true }, () => isOver);
  for (const part of expected) {
    write(part);
    await clock.run(100);
  }
  isOver = true;
  await clock.run(1_000);
  expect(existsSync(rotatedFile(file))).toBe(true);
  expect(statSync(file).size).toBeLessThan(logFileBytesMax);
  expect((await text) === expected.join("")).toBe(true);
});

test("the logs of two runs are kept, older ones are dropped", () => {
  const { directory, clock } = world();
  for (let attempt = 0; attempt < 4; attempt++) {
    openContainerLog(clock, logFile(directory, "main", attempt)).close();
    dropOldLogs(directory, "main", attempt);
  }
  expect([0, 1, 2, 3].map((attempt) => existsSync(logFile(directory, "main", attempt)))).toEqual([
    false,
    false,
    true,
    true,
  ]);
});
