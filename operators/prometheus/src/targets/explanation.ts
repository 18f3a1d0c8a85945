/** What an explanation of targets is. */

/** A condition without its type. */
export interface Explanation {
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

/** `2 targets`, `1 Service`, `3 Ingresses`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : noun.endsWith("s") ? "es" : "s"}`;
}
