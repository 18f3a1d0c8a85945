/**
 * Measures the work queue with many keys: what one key costs from add to done, and what a delay costs.
 * Run: node --expose-gc --conditions=@setpoint/source bench/queue.ts [keys]
 */
import { createMetrics, systemClock, systemRandom } from "@setpoint/host/system";
import { WorkQueue } from "@setpoint/runtime";

const keyCount = Number(process.argv[2] ?? "100000");
const namespaceCount = 100;
const rounds = 5;

const keys = Array.from({ length: keyCount }, (_, i) => `team-${i % namespaceCount}/object-${i}`);

function createQueue(): WorkQueue {
  return new WorkQueue({ clock: systemClock, random: systemRandom, metrics: createMetrics(), name: "bench" });
}

function measure(what: string, work: (queue: WorkQueue) => void): void {
  let bestMs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const queue = createQueue();
    const startedMs = performance.now();
    work(queue);
    bestMs = Math.min(bestMs, performance.now() - startedMs);
    queue.close();
  }
  console.log(`${what}: ${((bestMs * 1e6) / keyCount).toFixed(0)} ns a key (${keyCount} keys, best of ${rounds})`);
}

function drain(queue: WorkQueue): void {
  for (let key = queue.take(); key !== undefined; key = queue.take()) queue.done(key);
}

// First: what the measurements leave behind goes when it pleases.
globalThis.gc?.();
const before = memory();
const kept = createQueue();
for (const key of keys) kept.add(key);
globalThis.gc?.();
console.log(`memory of a waiting key: ${((memory() - before) / keyCount).toFixed(0)} bytes`);
kept.close();

measure("all added, then taken and done", (queue) => {
  for (const key of keys) queue.add(key, "low");
  drain(queue);
});
measure("the same while each done key is followed by a change of another", (queue) => {
  for (const key of keys) queue.add(key, "low");
  for (let i = 0; i < keyCount; i++) {
    queue.add(keys[(i * 7) % keyCount] ?? "");
    const key = queue.take();
    if (key !== undefined) queue.done(key);
  }
  drain(queue);
});
measure("added with a delay, and undelayed by a change", (queue) => {
  keys.forEach((key, i) => queue.addAfter(key, 1_000 + ((i * 7_919) % 60_000)));
  for (const key of keys) queue.add(key);
  drain(queue);
});

function memory(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
