import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@setpoint/host/system";
import { expect, onTestFinished, test } from "vitest";
import { lockDirectory } from "./directory-lock.ts";

function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), "process-node-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

test("a directory belongs to one agent until that releases it", async () => {
  const directory = folder();
  const first = await lockDirectory(directory, systemClock);
  await expect(lockDirectory(directory, systemClock)).rejects.toThrow("another node agent uses it");
  first.release();
  (await lockDirectory(directory, systemClock)).release();
});

test("an agent whose parent is gone hands its directory to the next one that wants it", async () => {
  const directory = folder();
  const first = await lockDirectory(directory, systemClock);
  const offered = first.offer(new AbortController().signal).then(() => first.release());
  const second = await lockDirectory(directory, systemClock);
  await offered;
  second.release();
});

test("the files of a hand-over mean nothing to the agent after it", async () => {
  const directory = folder();
  const first = await lockDirectory(directory, systemClock);
  const offered = first.offer(new AbortController().signal).then(() => first.release());
  const second = await lockDirectory(directory, systemClock);
  await offered;
  await expect(second.offer(AbortSignal.timeout(200))).rejects.toThrow();
  second.release();
});
