/** When the key is to run again. Any watched change wakes it too. */
export type Result =
  | { readonly kind: "awaitChange" }
  | { readonly kind: "requeueAfter"; readonly delayMs: number; readonly why: string };

export function awaitChange(): Result {
  return { kind: "awaitChange" };
}

export function requeueAfter(delayMs: number, why: string): Result {
  return { kind: "requeueAfter", delayMs, why };
}

/** Milliseconds, said in seconds. */
export function seconds(count: number): number {
  return count * 1_000;
}

/** Milliseconds, said in minutes. */
export function minutes(count: number): number {
  return count * 60_000;
}
