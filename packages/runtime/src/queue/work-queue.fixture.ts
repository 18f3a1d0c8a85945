/** A queue in virtual time, and what it gives out. */
import { createMetrics } from "@setpoint/host/system";
import { simulatedHost } from "@setpoint/host/simulated";
import * as fc from "fast-check";
import type { Priority } from "./priority.ts";
import { WorkQueue, type WorkQueueOptions } from "./work-queue.ts";

export function createQueue(options: Partial<WorkQueueOptions> = {}) {
  const host = simulatedHost(1);
  const metrics = createMetrics();
  return { host, metrics, queue: new WorkQueue({ ...host, metrics, name: "test", ...options }) };
}

export function takeAll(queue: WorkQueue): readonly string[] {
  const taken: string[] = [];
  for (let key = queue.take(); key !== undefined; key = queue.take()) {
    taken.push(key);
    queue.done(key);
  }
  return taken;
}

export const somePriority: fc.Arbitrary<Priority> = fc.constantFrom<Priority>("high", "normal", "low");
