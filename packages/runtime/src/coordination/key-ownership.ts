import { SetpointError } from "@setpoint/apimachinery";
import { errStopped } from "../errors.ts";
import type { RunTransport } from "../run/run-transport.ts";

/** What one run may do for how long. */
export interface RunPermit {
  readonly signal: AbortSignal;
  /** Throws when the run may not write any more. */
  assertMayWrite(): void;
  /** Names the run's way to the server, whose writes on their way count. */
  follow(transport: RunTransport): void;
  ended(): void;
}

/** Which keys are this process's. */
export interface KeyOwnership {
  mayRun(key: string): boolean;
  begin(key: string): RunPermit;
}

/** All keys, for as long as the manager runs. That it may write at all is guarded for the whole manager. */
export function allKeys(signal: AbortSignal): KeyOwnership {
  const permit: RunPermit = {
    signal,
    assertMayWrite() {
      if (signal.aborted) throw new SetpointError(errStopped, "Cannot write: the manager has stopped");
    },
    follow() {},
    ended() {},
  };
  return { mayRun: () => true, begin: () => permit };
}
