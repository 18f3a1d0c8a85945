/**
 * Above this a full collection of garbage is a pause that others notice, and what starting has left is a small part of the heap. It
 * is what an operator of a few hundred objects has.
 */
const heapBytesMax = 24 * 1024 * 1024;

/**
 * Gives back what starting took and nothing needs any more, a fifth of what a small operator has of its own: V8 looks for it only when a
 * heap has grown, and that of an idle operator never does. Nothing happens unless Node was started with `--expose-gc`.
 */
export function collectAfterStart(
  gc: NodeJS.GCFunction | undefined = globalThis.gc,
  heapBytes: () => number = () => process.memoryUsage().heapUsed,
): void {
  // The usual flavor keeps the room for young objects as large as starting made it.
  if (gc !== undefined && heapBytes() <= heapBytesMax) gc({ type: "major", flavor: "last-resort" });
}
