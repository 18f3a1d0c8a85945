import { claimUnhandledRejection, releaseHandledRejection } from "@setpoint/runtime";

/**
 * Keeps the process alive when a call on a reconcile's context fails and nothing handles the failure: its run
 * reports it. Every other unhandled rejection still ends the process, as Node's default has it.
 */
export function guardRejections(): Disposable {
  const onUnhandled = (reason: unknown, promise: Promise<unknown>): void => {
    if (claimUnhandledRejection(reason, promise)) return;
    // Another listener decides, such as that of a test runner.
    if (process.listenerCount("unhandledRejection") > 1) return;
    throw reason;
  };
  process.on("unhandledRejection", onUnhandled);
  process.on("rejectionHandled", releaseHandledRejection);
  return {
    [Symbol.dispose]() {
      process.off("unhandledRejection", onUnhandled);
      process.off("rejectionHandled", releaseHandledRejection);
    },
  };
}
