/** Follows an AcceptanceRun to its end. */
import { isNotFound, messageOf, type NamespacedName, SetpointError } from "@setpoint/apimachinery";
import type { Client } from "@setpoint/client";
import { type Clock, sleep } from "@setpoint/host";
import { acceptanceRuns, type RunStatus } from "./acceptance-run.ts";

const pauseMs = 1_000;
/** An operator begins at once, unless its leader has just changed. */
const beginMsMax = 30_000;
/** A cluster under test may restart its API server. */
const silenceMsMax = 60_000;

export interface Following {
  readonly client: Client;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly key: NamespacedName;
  readonly limitMs: number;
  /** Called once for each check that has ended. */
  readonly onEnd: (check: RunStatus["checks"][number]) => void;
  /** Called with what a person should know meanwhile. */
  readonly onNote: (sentence: string) => void;
}

/**
 * Resolves with the status of the ended run. Errors: `ERR_ACCEPTANCE_NOT_ENDED` when the time is over or the
 * run was deleted; that of the API server when it has not answered for a minute.
 */
export async function followRun(following: Following): Promise<RunStatus> {
  const { clock, signal, limitMs, onNote } = following;
  const startMs = clock.monotonic();
  const announce = announcer(following);
  let answeredMs = startMs;
  let isNoted = false;
  for (;;) {
    const status = await read(following).catch((error: unknown) => {
      if (signal.aborted || clock.monotonic() - answeredMs > silenceMsMax) throw error;
      if (isNotFound(error)) throw notEnded(following, "it was deleted");
      return messageOf(error);
    });
    const nowMs = clock.monotonic();
    if (typeof status !== "string") answeredMs = nowMs;
    if (typeof status === "object") announce(status);
    if (typeof status === "object" && status.finishedAt !== undefined) return status;
    if (nowMs - startMs > limitMs) throw notEnded(following, `${limitMs / 1_000} s are over: ${stateOf(status)}`);
    if (!isNoted && status === undefined && nowMs - startMs > beginMsMax) {
      onNote(
        "No operator has begun the run: check that one for this kind runs in the cluster and follows the namespace",
      );
      isNoted = true;
    }
    await sleep(clock, pauseMs, signal);
  }
}

async function read({ client, key, signal }: Following): Promise<RunStatus | undefined> {
  return (await client.get(acceptanceRuns, key, { signal })).status;
}

function announcer({ onEnd }: Following): (status: RunStatus) => void {
  const announced = new Set<string>();
  return ({ checks }) => {
    for (const check of checks) {
      if (check.state === "Pending" || check.state === "Running" || announced.has(check.name)) continue;
      announced.add(check.name);
      onEnd(check);
    }
  };
}

function stateOf(status: RunStatus | string | undefined): string {
  if (status === undefined) return "no operator has begun the run";
  return typeof status === "string" ? status : (status.message ?? status.phase);
}

function notEnded({ key }: Following, why: string): SetpointError {
  const { namespace = "", name } = key;
  return new SetpointError(
    "ERR_ACCEPTANCE_NOT_ENDED",
    `Cannot follow AcceptanceRun ${namespace}/${name} to its end: ${why}`,
  );
}
