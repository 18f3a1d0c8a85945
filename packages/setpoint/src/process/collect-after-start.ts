/**
 * Above this a full collection of garbage is a pause that others notice, and what starting has left is a
 * small part of the heap. It is what an operator of a few hundred objects has.
 */
const heapBytesMax = 24 * 1024 * 1024;

/**
 * Gives back what starting took and nothing needs any more, a fifth of what a small operator has of its own:
 * V8 looks for it only when a heap has grown, and that of an idle operator never does. It is a pause of some
 * 10 to 40 ms, by the machine. An operator with a large heap is left to V8.
 */
export function collectAfterStart(
  heapBytes: () => number = () => process.memoryUsage().heapUsed,
  gc: () => NodeJS.GCFunction = collector,
): void {
  // The usual flavor keeps the room for young objects as large as starting made it.
  if (heapBytes() <= heapBytesMax) gc()({ type: "major", flavor: "last-resort" });
}

/**
 * The function that `--expose-gc` would have given: with that on the command line Node does without its own
 * compiled code and starts 15 to 25 ms later. A context that is made while the flag is set has it.
 */
function collector(): NodeJS.GCFunction {
  if (globalThis.gc !== undefined) return globalThis.gc;
  const v8 = process.getBuiltinModule("node:v8");
  v8.setFlagsFromString("--expose-gc");
  const gc = process.getBuiltinModule("node:vm").runInNewContext("gc") as NodeJS.GCFunction;
  v8.setFlagsFromString("--no-expose-gc");
  return gc;
}
