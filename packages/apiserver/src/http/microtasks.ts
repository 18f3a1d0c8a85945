import { nextTick } from "node:process";

/**
 * Resolves when all promise callbacks that are ready have run. `nextTick` of a microtask runs after the other
 * microtasks; called outside of one it would run before them.
 */
export async function microtasksDone(): Promise<void> {
  await Promise.resolve();
  await new Promise<void>((resolve) => nextTick(resolve));
}
