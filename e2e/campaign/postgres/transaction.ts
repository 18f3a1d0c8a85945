/** What clients did with lists, each in a transaction, and what they saw. */

export type ListOperation =
  | { readonly kind: "append"; readonly key: string; readonly value: number }
  | { readonly kind: "read"; readonly key: string; readonly values: readonly number[] };

export interface Transaction {
  /** In their order. Each value is appended once in a history. A read without an answer is left out. */
  readonly operations: readonly ListOperation[];
  /** `Unknown`: no answer to the commit came, so it may have happened. */
  readonly outcome: "Committed" | "Aborted" | "Unknown";
  readonly startMs: number;
  /** When the answer to the commit came. */
  readonly endMs: number;
}
