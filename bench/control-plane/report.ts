/** Prints one figure of a benchmark: what, minimum, median and maximum of its samples, unit, goal. */

export interface Figure {
  readonly what: string;
  readonly unit: string;
  readonly samples: readonly number[];
  readonly goal?: string;
}

export function report({ what, unit, samples, goal }: Figure): void {
  const sorted = samples.toSorted((a, b) => a - b);
  const shown = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)].map((each) =>
    format(each ?? NaN).padStart(10),
  );
  console.log(`${what.padEnd(56)}${shown.join("")} ${unit}${goal === undefined ? "" : `  (goal ${goal})`}`);
}

function format(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en-US") : value.toFixed(value >= 10 ? 1 : 2);
}

/** The results of `runs` calls, one after the other. */
export async function repeat<T>(runs: number, measure: (run: number) => Promise<T> | T): Promise<T[]> {
  const results: T[] = [];
  for (let run = 0; run < runs; run++) {
    globalThis.gc?.();
    results.push(await measure(run));
  }
  return results;
}

/** Milliseconds that `action` takes. */
export async function timed(action: () => unknown): Promise<number> {
  const from = performance.now();
  await action();
  return performance.now() - from;
}
