import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { killTree } from "./process-tree.ts";

test("children of children end too, and those with a session of their own", async () => {
  const seconds = String(20_000_000 + process.pid);
  const script = `setsid sh -c 'sleep ${seconds} & sleep ${seconds}; true' & sleep ${seconds} & wait`;
  const child = spawn("sh", ["-c", script], { stdio: "ignore" });
  const alive = (): number => readdirSync("/proc").filter((pid) => commandLine(pid) === `sleep\0${seconds}\0`).length;
  await expect.poll(alive, { timeout: 10_000 }).toBe(3);
  const ended = new Promise((resolve) => child.once("exit", (_, signal) => resolve(signal)));
  killTree(child.pid ?? 0);
  expect(await ended).toBe("SIGKILL");
  await expect.poll(alive, { timeout: 10_000 }).toBe(0);
});

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
