import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@setpoint/host";
import { expect, onTestFinished, test } from "vitest";
import type { Pod } from "@setpoint/api";
import { PodEvictions } from "./pod-evictions.ts";
import type { PodWorker } from "../workers/pod-worker.ts";

function world() {
  const directory = mkdtempSync(join(tmpdir(), "process-node-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const evicted: Record<string, string> = {};
  const pressure: boolean[] = [];
  const workers: PodWorker[] = [];
  const podDirectory = (uid: string): string => join(directory, uid);
  const evictions = new PodEvictions({
    log: silentLogger,
    directory,
    podDirectory,
    memoryDirectory: (uid) => join(directory, "memory", uid),
    setDiskPressure: (has) => void pressure.push(has),
  });
  const add = (uid: string, container: object = {}): string => {
    const spec = { containers: [{ name: "main", ...container }], volumes: [{ name: "v", emptyDir: {} }] };
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: uid, uid }, spec } as unknown as Pod;
    const worker: Pick<PodWorker, "uid" | "pod" | "isEvictable" | "evict"> = {
      uid,
      pod,
      isEvictable: true,
      evict: (why) => void (evicted[uid] = why),
    };
    workers.push(worker as PodWorker);
    for (const folder of ["volumes/v", "logs"]) mkdirSync(join(podDirectory(uid), folder), { recursive: true });
    return podDirectory(uid);
  };
  return { directory, evicted, pressure, add, check: () => evictions.check(workers) };
}

test("a termination message counts as the pod's ephemeral storage", async () => {
  const { add, check, evicted } = world();
  const folder = add("talks", { resources: { limits: { "ephemeral-storage": "1Mi" } } });
  await check();
  expect(evicted).toEqual({});
  mkdirSync(join(folder, "termination/main"), { recursive: true });
  writeFileSync(join(folder, "termination/main/0"), Buffer.alloc(2 * 1_024 * 1_024));
  await check();
  expect(evicted["talks"]).toContain("exceeds the total limit of containers 1Mi");
});

test.skipIf(process.getuid?.() !== 0)(
  "the pod with the most files is evicted before a disk has none left",
  async () => {
    const { directory, add, check, evicted, pressure } = world();
    execFileSync("mount", ["-n", "-t", "tmpfs", "-o", "size=64m,nr_inodes=1000", "tmpfs", directory]);
    onTestFinished(() => void execFileSync("umount", ["-n", directory]));
    writeFileSync(join(add("large"), "volumes/v/file"), Buffer.alloc(1_024 * 1_024));
    const folder = add("many");
    for (let i = 0; i < 800; i++) writeFileSync(join(folder, `volumes/v/${i}`), "");
    await check();
    expect(evicted).toEqual({});
    for (let i = 800; i < 970; i++) writeFileSync(join(folder, `volumes/v/${i}`), "");
    await check();
    expect(Object.keys(evicted)).toEqual(["many"]);
    expect(evicted["many"]).toMatch(
      /^The node was low on resource: inodes\. Threshold quantity: 50, available: \d+\. $/,
    );
    expect(pressure).toEqual([false, true]);
  },
);
