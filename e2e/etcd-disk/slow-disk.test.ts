/**
 * A real etcd whose disk is slow: each sync of one member's log takes 0.8 s longer, which strace adds to its
 * system calls. The operator replaces that member, and loses nothing.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClusterUnderTour } from "../../examples/etcd/tour/cluster-under-tour.ts";
import { checkHashes } from "../../examples/etcd/tour/steps.ts";
import { Playground } from "../etcd/playground.ts";
import { processesWith } from "../processes.ts";

const delayMicroseconds = 800_000;
/**
 * A minute that counts as slow, two measurements, and a member that joins: 110 s on a quiet machine. A member
 * is only replaced while the disks of the others are well, and other tests use them too.
 */
const replacedMsMax = 300_000;
const hasStrace = spawnSync("strace", ["--version"]).status === 0;
if (!hasStrace) console.log("skipped: strace, which makes a disk slow, is not installed");

let playground: Playground;
beforeAll(async () => {
  if (hasStrace) playground = await Playground.open();
});
afterAll(() => playground?.[Symbol.asyncDispose]());

/** The syncs of a process take longer until what is returned is disposed of. */
function slowDown(pid: number): AsyncDisposable {
  const inject = `inject=fdatasync,fsync:delay_exit=${delayMicroseconds}`;
  const options = ["-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync,fsync", "-e", inject];
  const tracer: ChildProcess = spawn("strace", [...options, "-p", String(pid)], { stdio: "ignore" });
  const ended = once(tracer, "exit");
  return {
    async [Symbol.asyncDispose]() {
      tracer.kill("SIGTERM");
      await ended;
    },
  };
}

async function names(cluster: ClusterUnderTour): Promise<readonly string[]> {
  return ((await cluster.get()).status?.members ?? []).map(({ name }) => name);
}

test.skipIf(!hasStrace)(
  "a member whose disk is slow gives its place to another, and nothing is lost",
  { timeout: 2 * replacedMsMax },
  async () => {
    const spec = {
      size: 3,
      version: "3.5.16",
      healing: { slowDisk: "replace", slowDiskMilliseconds: 500, slowDiskSeconds: 60 },
    } as const;
    await playground.tell("slow-disk", spec, async (cluster) => {
      const { status } = await cluster.get();
      const slow = status?.members.find(({ role }) => role === "Follower")?.name ?? "";
      const [pid = 0] = processesWith(`--name=${slow}`);
      expect(pid).toBeGreaterThan(0);
      await using _ = slowDown(pid);
      const isReplaced = async (): Promise<boolean> => !(await names(cluster)).includes(slow);
      const tookMs = await cluster.until("another member in its place", isReplaced, replacedMsMax);
      console.log(`replaced ${Math.round(tookMs / 1_000)} s after its disk became slow`);
      await cluster.until("three members that serve", () => cluster.isSettled(3), replacedMsMax);
      expect((await cluster.get()).status?.slowDisks?.lastReplacement).toBeDefined();
      await checkHashes(cluster, 3);
    });
  },
);
