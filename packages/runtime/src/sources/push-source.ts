import type { NamespacedName } from "@setpoint/apimachinery";
import type { Source, SourcePorts } from "../controller/source.ts";

/** A source that other code of the same process feeds, such as the handler of a webhook. */
export interface PushSource extends Source {
  /**
   * Enqueues a key in every running controller that has this source. Returns whether one of them owns the
   * key. `false` (no manager runs, it is a standby, or another member owns the key) is a reason to answer
   * 503, so that the sender retries elsewhere.
   */
  push(key: NamespacedName): boolean;
}

/**
 * `const hooks = pushSource("payments")`, `sources: [hooks]`, and in the handler
 * `hooks.push({ name, namespace })`.
 */
export function pushSource(name = "push"): PushSource {
  const running = new Set<SourcePorts>();
  return {
    name,
    push(key) {
      let isWoken = false;
      for (const { wake } of running) if (wake(key, "high")) isWoken = true;
      return isWoken;
    },
    run(ports) {
      running.add(ports);
      const { promise, resolve } = Promise.withResolvers<void>();
      const end = (): void => {
        running.delete(ports);
        resolve();
      };
      if (ports.signal.aborted) end();
      else ports.signal.addEventListener("abort", end, { once: true });
      return promise;
    },
  };
}
