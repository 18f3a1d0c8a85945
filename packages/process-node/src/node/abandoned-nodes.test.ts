import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import { expect, onTestFinished, test } from "vitest";
import { endNode, recordNetwork, removeAbandonedNodes, sandboxesFolder } from "./abandoned-nodes.ts";
import { lockDirectory } from "../host/directory-lock.ts";
import { enterNamespace, holdNamespace } from "../network/namespace-holder.ts";
import { identify } from "../host/process-identity.ts";
import { missingTools, OciWorld } from "../sandbox/oci-world.fixture.ts";
import { OciRuntime } from "../sandbox/oci-runtime.ts";
import { prepareMemoryFolder } from "../volumes/memory-folder.ts";

function dataFolder(): string {
  const data = mkdtempSync(join(tmpdir(), "process-node-"));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  return data;
}

test.skipIf(missingTools !== "")(
  `pods of a node whose data folder is gone end with its memory${missingTools === "" ? "" : ` (skipped: ${missingTools})`}`,
  async () => {
    const data = dataFolder();
    const memory = prepareMemoryFolder(data);
    const runtime = new OciRuntime({
      clock: systemClock,
      directory: sandboxesFolder(memory),
      idsFile: join(data, "ids.json"),
      version: "test",
      logFile: () => join(data, "log"),
    });
    const podUid = randomUUID();
    const { holderPid } = await runtime.createSandbox({
      podUid,
      hostname: "a",
      networkNamespace: false,
      user: 0,
      group: 0,
    });
    const container = await runtime.start(new OciWorld().spec(["sleep", "100"], { id: `${podUid}/main/0` }));
    runtime[Symbol.dispose]();
    await removeAbandonedNodes(systemClock, silentLogger);
    expect(identify(container.pid)).toBeDefined();

    rmSync(data, { recursive: true });
    await removeAbandonedNodes(systemClock, silentLogger);
    expect(identify(container.pid)).toBeUndefined();
    await expect.poll(() => identify(holderPid)).toBeUndefined();
    expect(existsSync(memory)).toBe(false);
    const groups = existsSync("/sys/fs/cgroup/pids/setpoint") ? readdirSync("/sys/fs/cgroup/pids/setpoint") : [];
    expect(groups.some((group) => existsSync(`/sys/fs/cgroup/pids/setpoint/${group}/${podUid}`))).toBe(false);
  },
);

test.skipIf(missingTools !== "")("pods of a node whose agent was killed end, unless it has another agent", async () => {
  const data = dataFolder();
  const memory = prepareMemoryFolder(data);
  const runtime = new OciRuntime({
    clock: systemClock,
    directory: sandboxesFolder(memory),
    idsFile: join(data, "ids.json"),
    version: "test",
    logFile: () => join(data, "log"),
  });
  const podUid = randomUUID();
  const sandbox = { podUid, hostname: "a", networkNamespace: false, user: 0, group: 0 };
  const { holderPid } = await runtime.createSandbox(sandbox);
  const container = await runtime.start(new OciWorld().spec(["sleep", "100"], { id: `${podUid}/main/0` }));
  runtime[Symbol.dispose]();
  const lock = await lockDirectory(data, systemClock);
  await expect(endNode(data, systemClock)).rejects.toMatchObject({ code: "ERR_DIRECTORY_IN_USE" });
  expect(identify(container.pid)).toBeDefined();

  lock.release();
  await endNode(data, systemClock);
  await expect.poll(() => [identify(container.pid), identify(holderPid)]).toEqual([undefined, undefined]);
  expect(existsSync(memory)).toBe(false);
});

test.skipIf(process.getuid?.() !== 0)("the network of such a node ends when no process uses it", async () => {
  const data = dataFolder();
  const memory = prepareMemoryFolder(data);
  const holder = await holdNamespace({ clock: systemClock, file: join(data, "network") });
  onTestFinished(() => holder.remove());
  const identity = identify(holder.holderPid);
  if (identity === undefined) throw new Error("the holder ended");
  recordNetwork(memory, identity);
  const [program = "", ...args] = enterNamespace(holder);
  const user = spawn(program, [...args, "sh", "-c", "echo here; exec cat"], { stdio: ["pipe", "pipe", "ignore"] });
  await new Promise((resolve) => user.stdout.once("data", resolve));

  rmSync(data, { recursive: true });
  await removeAbandonedNodes(systemClock, silentLogger);
  expect(identify(holder.holderPid)).toBeDefined();
  const ended = new Promise((resolve) => user.once("exit", resolve));
  user.stdin.end();
  await ended;
  mkdirSync(data);
  recordNetwork(prepareMemoryFolder(data), identity);
  rmSync(data, { recursive: true });
  await removeAbandonedNodes(systemClock, silentLogger);
  await expect.poll(() => identify(holder.holderPid)).toBeUndefined();
});
