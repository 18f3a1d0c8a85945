/** A disk that is full: pods, tenants and their logs can fill the one that the server's data folder is on. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigMap } from "@setpoint/api";
import { isApiError } from "@setpoint/apimachinery";
import type { Client } from "@setpoint/client";
import { expect, test } from "vitest";
import { Target } from "./target.ts";

const diskMegabytes = 24;
const namespace = "default";
const mayMount = spawnSync("unshare", ["-m", "true"]).status === 0;
if (!mayMount) console.log("full-disk attack skipped: this user may not make a mount namespace");

/** Takes all that is left of a disk, and returns how to give it back. */
function fill(folder: string): () => void {
  const path = join(folder, "ballast");
  const file = openSync(path, "w");
  try {
    for (const size of [65_536, 512, 1]) {
      const chunk = Buffer.alloc(size);
      try {
        while (writeSync(file, chunk) === size);
      } catch {
        // There is no room for a chunk of this size.
      }
    }
  } finally {
    closeSync(file);
  }
  return () => rmSync(path);
}

/** What a write of so many bytes is answered with. */
async function write(client: Client, name: string, bytes: number): Promise<number> {
  try {
    await client.create(ConfigMap, ConfigMap({ name, namespace, data: { text: "x".repeat(bytes) } }));
    return 201;
  } catch (error) {
    if (isApiError(error)) return error.code;
    throw error;
  }
}

test.skipIf(!mayMount)(
  "a full disk refuses writes, says so in readyz, and ends nothing; room brings all back",
  async () => {
    const directory = mkdtempSync(join(tmpdir(), "setpoint-disk-"));
    const script = `mount -t tmpfs -o size=${diskMegabytes}m,mode=700 tmpfs "$0" && exec "$@"`;
    try {
      await using target = await Target.start({ directory, within: ["unshare", "-m", "sh", "-c", script, directory] });
      const disk = `/proc/${target.process.pid}/root${directory}`;
      const ready = (path: string) => target.raw({ path, as: "admin" });
      expect(await ready("/readyz")).toMatchObject({ status: 200, body: "ok" });
      const giveBack = fill(disk);
      const codes: number[] = [];
      for (let i = 0; i < 20; i++) codes.push(await write(target.admin, `large-${i}`, 500_000));
      expect(codes).toContain(500);
      for (const path of ["/readyz", "/livez", "/healthz"]) {
        const { status, body } = await ready(path);
        expect(status).toBe(500);
        expect(body).toContain("[-]etcd failed: reason withheld");
      }
      expect((await target.raw({ path: "/api/v1/namespaces/default", as: "admin" })).status).toBe(200);
      expect(target.isRunning).toBe(true);
      giveBack();
      await expect.poll(async () => (await ready("/readyz")).status, { timeout: 10_000 }).toBe(200);
      expect(await write(target.admin, "after", 500_000)).toBe(201);
      expect(target.isRunning).toBe(true);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
);

/** A disk in a mount namespace of its own, which lives as long as this. */
async function smallDisk(): Promise<{ readonly directory: string; readonly holder: ChildProcess } & AsyncDisposable> {
  const directory = mkdtempSync(join(tmpdir(), "setpoint-disk-"));
  const script = `mount -t tmpfs -o size=${diskMegabytes}m,mode=700 tmpfs "$0" && echo mounted && exec sleep infinity`;
  const holder = spawn("unshare", ["-m", "sh", "-c", script, directory], { stdio: ["ignore", "pipe", "inherit"] });
  await once(holder.stdout, "data");
  return {
    directory,
    holder,
    async [Symbol.asyncDispose]() {
      const ended = once(holder, "exit");
      holder.kill("SIGKILL");
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

test.skipIf(!mayMount).each(["SIGINT", "SIGKILL"] as const)(
  "a start on a full disk after %s names the disk and serves reads, and goes on when there is room",
  async (signal) => {
    await using small = await smallDisk();
    const { directory, holder } = small;
    const within = ["nsenter", "--mount", "--target", String(holder.pid)];
    const start = (): Promise<Target> => Target.start({ directory, within });
    {
      await using before = await start();
      expect(await write(before.admin, "kept", 100)).toBe(201);
      const ended = once(before.process, "exit");
      before.process.kill(signal);
      await ended;
    }
    const giveBack = fill(`/proc/${holder.pid}/root${directory}`);
    await using target = await start();
    expect(target.output).toContain(
      `the disk of "${directory}" is full: the file system at "${directory}" has 0 bytes left; delete what is not needed there`,
    );
    expect(target.output).not.toContain("network namespaces");
    const kept = await target.admin.get(ConfigMap, { name: "kept", namespace });
    expect(kept.data?.["text"]).toHaveLength(100);
    const refused = target.admin.create(ConfigMap, ConfigMap({ name: "refused", namespace }));
    await expect(refused).rejects.toThrow(`the disk of "${directory}" is full`);
    expect((await target.raw({ path: "/readyz", as: "admin" })).body).toContain("[-]etcd failed");
    giveBack();
    const { port } = target.url;
    await expect
      .poll(() => target.output, { timeout: 60_000 })
      .toContain(`:${port}, kubeconfig ${target.kubeconfig}, 1 node`);
    expect(await write(target.admin, "after", 100)).toBe(201);
    await expect.poll(async () => (await target.raw({ path: "/readyz", as: "admin" })).status).toBe(200);
  },
);

test.skipIf(!mayMount)("a first start on a full disk names the disk", async () => {
  await using small = await smallDisk();
  const { directory, holder } = small;
  fill(`/proc/${holder.pid}/root${directory}`);
  const within = ["nsenter", "--mount", "--target", String(holder.pid)];
  await expect(Target.start({ directory, within })).rejects.toThrow(`Cannot start: the disk of "${directory}" is full`);
});
