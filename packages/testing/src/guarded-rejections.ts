import { claimUnhandledRejection, releaseHandledRejection } from "@setpoint/runtime";

type Emit = (this: unknown, event: string | symbol, ...args: unknown[]) => boolean;

let isGuarded = false;

/**
 * From now on, the failure of a call on a reconcile's context that nothing handles fails the reconcile, and
 * so the test that waits for the world. A listener could not do that: the test runner has one too, and fails
 * the whole run without the name of the test. So these events do not reach listeners.
 */
export function guardRejections(): void {
  if (isGuarded) return;
  isGuarded = true;
  const emit = Reflect.get(process, "emit") as Emit;
  const guarded: Emit = function (this: unknown, event, ...args) {
    const [first, second] = args;
    if (event === "unhandledRejection" && claimUnhandledRejection(first, second as object)) return true;
    if (event === "rejectionHandled" && releaseHandledRejection(first as object)) return true;
    return Reflect.apply(emit, this, [event, ...args]);
  };
  Object.defineProperty(process, "emit", { value: guarded, configurable: true, writable: true });
}
