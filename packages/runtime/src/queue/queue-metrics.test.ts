import { expect, test } from "vitest";
import { createQueue } from "./work-queue.fixture.ts";
import { WorkQueue } from "./work-queue.ts";

test("metrics say by priority how much waits, and how long the work in progress takes", async () => {
  const { host, metrics, queue } = createQueue();
  queue.add("a/x");
  queue.add("a/y", "low");
  queue.add("a/z", "low");
  queue.take();
  await host.clock.run(5_000);
  const text = metrics.expose();
  expect(text).toContain('workqueue_depth{controller="test",name="test",priority="0"} 0\n');
  expect(text).toContain('workqueue_depth{controller="test",name="test",priority="-100"} 2\n');
  expect(text).toContain('workqueue_adds_total{controller="test",name="test"} 3\n');
  expect(text).toContain('workqueue_unfinished_work_seconds{controller="test",name="test"} 5\n');
  expect(text).toContain('workqueue_longest_running_processor_seconds{controller="test",name="test"} 5\n');
  queue.addRateLimited("a/x");
  queue.done("a/x");
  expect(metrics.expose()).toContain('workqueue_work_duration_seconds_sum{controller="test",name="test"} 5\n');
  expect(metrics.expose()).toContain('workqueue_retries_total{controller="test",name="test"} 1\n');
});

test("metrics tell how long keys waited and were worked on", async () => {
  const { host, metrics, queue } = createQueue();
  await host.clock.run(10_000);
  queue.add("a/x");
  await host.clock.run(2_000);
  queue.take();
  await host.clock.run(3_000);
  queue.done("a/x");
  const text = metrics.expose();
  expect(text).toContain('workqueue_queue_duration_seconds_sum{controller="test",name="test"} 2\n');
  expect(text).toContain('workqueue_queue_duration_seconds_count{controller="test",name="test"} 1\n');
  expect(text).toContain('workqueue_work_duration_seconds_sum{controller="test",name="test"} 3\n');
});

test("a closed queue leaves the metrics of its name to another", () => {
  const { host, metrics, queue } = createQueue();
  const other = new WorkQueue({ ...host, metrics, name: "test" });
  queue.add("a/x");
  other.close();
  expect(metrics.expose()).toContain('workqueue_depth{controller="test",name="test",priority="0"} 1\n');
});

test("WorkQueue.oldestWaitMs is the wait of the key that has been ready for longest, of whatever priority", async () => {
  const { host, queue } = createQueue();
  await host.clock.run(1_000);
  expect(queue.oldestWaitMs).toBe(0);
  queue.add("a/low", "low");
  await host.clock.run(200);
  queue.add("a/x");
  await host.clock.run(50);
  expect(queue.oldestWaitMs).toBe(250);
  queue.take();
  queue.take();
  expect(queue.oldestWaitMs).toBe(0);
});

test.each(["a/1", "a/2"])(
  "WorkQueue.oldestWaitMs knows those that were added after %s became more urgent",
  async (moved) => {
    const { host, queue } = createQueue();
    queue.add("a/1", "low");
    queue.add("a/2", "low");
    if (moved === "a/2") queue.add(moved, "high");
    await host.clock.run(30);
    queue.add("a/3", "low");
    if (moved === "a/1") queue.add(moved, "high");
    await host.clock.run(10);
    expect([queue.take(), queue.take()]).toContain(moved);
    expect(queue.oldestWaitMs).toBe(10);
  },
);

test("WorkQueue.oldestWaitMs forgets a key that became more urgent between others", async () => {
  const { host, queue } = createQueue();
  for (const key of ["a/1", "a/2", "a/3"]) {
    queue.add(key, "low");
    await host.clock.run(10);
  }
  queue.add("a/2", "high");
  expect([queue.take(), queue.take()]).toEqual(["a/2", "a/1"]);
  expect(queue.oldestWaitMs).toBe(10);
});
