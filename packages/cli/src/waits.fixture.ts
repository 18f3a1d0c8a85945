/** A program that waits for a signal to stop, as the command line does. */
import { endWithParent } from "./end-with-parent.ts";

endWithParent();
const timer = setInterval(() => {}, 1_000);
for (const signal of ["SIGINT", "SIGTERM"])
  process.once(signal, () => {
    console.log("stopped");
    clearInterval(timer);
  });
console.log("ready");
