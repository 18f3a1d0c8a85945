/**
 * The right to work, which a process has for a time and must renew: as the one leader, or as a member of a
 * group.
 */
export interface LeaseHolder {
  /** Whether this process may write, by its monotonic clock. */
  readonly isHeld: boolean;
  /** Milliseconds for which it may still write without another renewal; negative when it may not. */
  readonly heldForMs: number;
  /** Throws when this process may not write. */
  assertHeld(): void;
  /** Resolves when it may work; rejects when the signal aborts. */
  acquire(signal: AbortSignal): Promise<void>;
  /** Renews until the right is lost or the signal aborts. */
  hold(signal: AbortSignal): Promise<LeaseEnd>;
  /** Gives the right up, so that others need not wait for its end. */
  release(): Promise<void>;
}

export type LeaseEnd = "lost" | "stopped";
