/** Prints how long something took. */
export async function timed<T>(what: string, run: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  const result = await run();
  console.log(`  ${((performance.now() - startedMs) / 1000).toFixed(1).padStart(5)} s  ${what}`);
  return result;
}
