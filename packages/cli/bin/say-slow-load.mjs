// Says that modules are being loaded when that takes long. They are loaded in one go, in which no timer runs;
// a hook is called for each. Plain JavaScript that an old Node can read.
import { writeSync } from "node:fs";
import * as nodeModule from "node:module";

const quietSeconds = 3;
const againSeconds = 10;
const standardError = 2;

/** Until the returned function is called. */
export function sayWhenLoadIsSlow() {
  let nextSeconds = quietSeconds;
  const hooks = nodeModule.registerHooks?.({
    resolve(specifier, context, next) {
      // Of the process: before this line Node itself may have started slowly.
      const seconds = process.uptime();
      if (seconds > nextSeconds) {
        nextSeconds = seconds + againSeconds;
        say(`  loading the program, ${Math.round(seconds)} s so far: this machine is busy …\n`);
      }
      return next(specifier, context);
    },
  });
  return () => hooks?.deregister();
}

function say(line) {
  try {
    writeSync(standardError, line);
  } catch {
    // Nobody reads it.
  }
}
