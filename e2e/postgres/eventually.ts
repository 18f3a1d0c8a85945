import { setTimeout as sleep } from "node:timers/promises";

const lookEveryMs = 200;

/** The first result of `look` that is no rejection; rejects with the last one after the time. */
export async function eventually<T>(look: () => Promise<T>, limitMs: number): Promise<T> {
  const endMs = performance.now() + limitMs;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (performance.now() > endMs) throw error;
    }
    await sleep(lookEveryMs);
  }
}
