import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { childrenOf, sendSignal } from "./process-tree.ts";

test("childrenOf() finds what a process has started, and nothing of one that has ended", async () => {
  const child = spawn("sleep", ["60"]);
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child, "spawn");
  expect(childrenOf(process.pid)).toContain(child.pid);
  expect(childrenOf(child.pid ?? 0)).toEqual([]);
  const ended = once(child, "exit");
  sendSignal(child.pid ?? 0, "SIGKILL");
  await ended;
  expect(childrenOf(process.pid)).not.toContain(child.pid);
  sendSignal(child.pid ?? 0, "SIGKILL");
});
