/** A disk that is full: pods, tenants and their logs can fill the one that the server's data folder is on. */
import { spawnSync } from "node:child_process";
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
