import { spawn } from "node:child_process";
import { once } from "node:events";
import { systemClock } from "@setpoint/host/system";
import { expect, test } from "vitest";
import { ProcessList } from "./process-list.ts";

const commandLine = ["sleep", "987654", ""].join("\0");

test("a look is shared until it begins, and who asks then sees what has started meanwhile", async () => {
  const processes = new ProcessList(systemClock);
  const first = processes.read();
  expect(processes.read()).toBe(first);
  await Promise.resolve();
  await Promise.resolve();
  const child = spawn("sleep", ["987654"], { stdio: "ignore" });
  try {
    await once(child, "spawn");
    const later = processes.read();
    expect(later).not.toBe(first);
    const found = (await later).find(({ pid }) => pid === child.pid);
    expect(found?.commandLine).toBe(commandLine);
    expect((await first).some(({ pid }) => pid === process.pid)).toBe(false);
  } finally {
    child.kill("SIGKILL");
  }
});
