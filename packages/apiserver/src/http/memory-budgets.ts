/** The byte limits of a server's buffers, derived from its heap limit. */
import { getHeapStatistics } from "node:v8";
import type { Metrics } from "@setpoint/host";
import type { HistoryLimits } from "../storage/limits.ts";
import type { StorageUse } from "../storage/storage.ts";

const megabyte = 1024 * 1024;

/** Bytes, by what holds them. */
export interface MemoryBudgets {
  /** Objects that are stored. */
  readonly stored: number;
  /**
   * Objects of the watch history. An event may keep the object before it, too, so this counts for up to twice
   * as much.
   */
  readonly history: number;
  /** Events that one watch holds for a slow reader; the readers share the objects. */
  readonly watch: number;
}

/** Fractions leave half of the heap for requests in flight and for garbage that is not collected yet. */
export function memoryBudgets(heapBytesMax: number = heapLimitBytes()): MemoryBudgets {
  return {
    stored: Math.floor(heapBytesMax * 0.4),
    history: Math.min(Math.floor(heapBytesMax / 16), 256 * megabyte),
    watch: Math.min(Math.floor(heapBytesMax / 32), 64 * megabyte),
  };
}

/** The limits of a storage under these budgets. */
export function storageLimits({ stored, history }: MemoryBudgets): Partial<HistoryLimits> {
  return { storedBytesMax: stored, historyBytesMax: history };
}

function heapLimitBytes(): number {
  return getHeapStatistics().heap_size_limit;
}

/** Shows budgets and what is used of them. */
export function exposeMemory(metrics: Metrics, budgets: MemoryBudgets, use: () => StorageUse): () => void {
  const budget = metrics.gauge("setpoint_memory_budget_bytes", "What a buffer of the server may hold.");
  const used = metrics.gauge("setpoint_memory_used_bytes", "What a buffer of the server holds.");
  const limit = metrics.gauge("nodejs_heap_limit_bytes", "The limit of the heap.");
  const heap = metrics.gauge("nodejs_heap_used_bytes", "The used part of the heap, with what is not collected yet.");
  for (const [name, bytes] of Object.entries(budgets)) budget.set(Number(bytes), { buffer: name });
  return metrics.onExpose(() => {
    const { storedBytes, historyBytes } = use();
    used.set(storedBytes, { buffer: "stored" });
    used.set(historyBytes, { buffer: "history" });
    const { heap_size_limit, used_heap_size } = getHeapStatistics();
    limit.set(heap_size_limit);
    heap.set(used_heap_size);
  });
}
