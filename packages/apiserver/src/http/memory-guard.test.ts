import { type ApiRequest, type HttpMethod, isApiError, type UserInfo } from "@setpoint/apimachinery";
import { createMetrics } from "@setpoint/host/system";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { exposeMemory, memoryBudgets } from "./memory-budgets.ts";
import { MemoryGuard } from "./memory-guard.ts";

const user: UserInfo = { username: "alice", groups: [] };
const signal = new AbortController().signal;

/** The answer's code, "answered" for one of the handler behind. */
function ask(guard: MemoryGuard, method: HttpMethod, path: string): Promise<unknown> {
  const request: ApiRequest = { method, path };
  return guard.handle(request, user, signal).then(
    () => "answered",
    (error: unknown) => (isApiError(error) ? [error.code, error.status.details?.retryAfterSeconds] : error),
  );
}

test("while the heap is nearly full, requests that cost memory get 429, and others are answered", async () => {
  const clock = new VirtualClock(seededRandom(1));
  const heap = { used_heap_size: 95, heap_size_limit: 100 };
  const handler = {
    handle: async () => ({ kind: "object", status: 200, headers: {}, object: {} }) as const,
    admit() {},
  };
  const guard = new MemoryGuard(handler, clock, () => heap);
  expect(await ask(guard, "GET", "/api/v1/pods")).toEqual([429, 1]);
  expect(await ask(guard, "POST", "/apis/apps/v1/namespaces/default/deployments")).toEqual([429, 1]);
  expect(await ask(guard, "DELETE", "/api/v1/namespaces/default/pods/a")).toBe("answered");
  expect(await ask(guard, "PUT", "/apis/coordination.k8s.io/v1/namespaces/default/leases/a")).toBe("answered");
  expect(await ask(guard, "GET", "/readyz")).toBe("answered");
  heap.used_heap_size = 50;
  await clock.run(200);
  expect(await ask(guard, "GET", "/api/v1/pods")).toBe("answered");
});

test("budgets grow with the heap, leave half of it free, and are in the metrics", () => {
  const heapBytesMax = 512 * 1024 * 1024;
  const budgets = memoryBudgets(heapBytesMax);
  expect(budgets.stored + 2 * budgets.history).toBeLessThan(0.55 * heapBytesMax);
  const metrics = createMetrics();
  exposeMemory(metrics, budgets, () => ({ storedBytes: 7, historyBytes: 8 }));
  const text = metrics.expose();
  expect(text).toContain(`setpoint_memory_budget_bytes{buffer="stored"} ${budgets.stored}`);
  expect(text).toContain('setpoint_memory_used_bytes{buffer="history"} 8');
  expect(text).toMatch(/nodejs_heap_limit_bytes \d+/);
});
