/** A process whose parts fail in all the ways that nothing catches. */
import { setTimeout as delay } from "node:timers/promises";
import { systemLogger } from "@setpoint/host/system";
import { guardProcess } from "./process-guard.ts";

using _guard = guardProcess(systemLogger({ write: (line) => void process.stdout.write(line) }));
setTimeout(() => {
  throw new Error("in a timer");
}, 1);
void Promise.reject(new Error("in a promise"));
setImmediate(() => {
  const circle: Error & { self?: unknown } = new Error("with a circle");
  circle.cause = circle;
  throw circle;
});
await delay(100);
process.stdout.write("still here\n");
