/** Whether the heap is nearly full. */
import { getHeapStatistics } from "node:v8";

/** The part of the heap's limit above which it is nearly full. The collector runs before that. */
const heapPartMax = 0.85;

/** The fields of V8's heap statistics that the check reads, in bytes. */
export interface HeapUse {
  readonly used_heap_size: number;
  readonly heap_size_limit: number;
}

export function isNearlyFull({ used_heap_size, heap_size_limit }: HeapUse = getHeapStatistics()): boolean {
  return used_heap_size > heap_size_limit * heapPartMax;
}
