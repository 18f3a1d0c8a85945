/** A process that stands still in the way that its first argument names, and is watched. */
import { spawnSync } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { startStallWatchdog } from "./stall-watchdog.ts";

const [way = ""] = process.argv.slice(2);
const ways: Readonly<Record<string, () => Promise<void> | void>> = {
  loop() {
    for (;;);
  },
  async promises() {
    for (;;) await Promise.resolve();
  },
  native() {
    spawnSync("sleep", ["6"]);
  },
  async briefly() {
    // More than once: on a busy machine the thread begins late.
    for (let i = 0; i < 4; i++) {
      const endMs = Date.now() + 1_200;
      while (Date.now() < endMs);
      await delay(500);
    }
  },
  async works() {
    await delay(1_500);
  },
};

using _watchdog = startStallWatchdog({ reportMs: 400, endMs: 1_600 });
process.on("SIGTERM", () => process.exit(0));
await delay(500);
process.stdout.write("begins\n");
await ways[way]?.();
await delay(600);
process.stdout.write("ended by itself\n");
