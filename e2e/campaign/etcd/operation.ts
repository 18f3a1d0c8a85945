/** What one client did to one key, and when. */
export interface Operation {
  readonly kind: "write" | "read";
  readonly key: string;
  /**
   * The value that was written, or that the read returned; undefined for a key that was not there. Writes use
   * each value once.
   */
  readonly value: string | undefined;
  readonly startMs: number;
  /**
   * When the answer came; undefined when none came, so that a write may have happened at any later time, or
   * never.
   */
  readonly endMs: number | undefined;
}
