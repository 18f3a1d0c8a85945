/**
 * The asynchronous calls that an author's code makes on its context. A call that the code does not await can
 * fail while nobody listens. Node then ends the process, and the run looks as if it had succeeded. So a run
 * waits for its calls before it ends, and a failure that nothing handles fails the run.
 */
import { messageOf, SetpointError, type KubeObject } from "@setpoint/apimachinery";
import { nextTurn, type Clock } from "@setpoint/host";
import { storeKey } from "../cache/store.ts";
import type { ReconcileContext } from "../controller/reconcile-context.ts";
import { errNotAwaited } from "../errors.ts";

const asyncNames = ["fresh", "apply", "create", "patch", "delete", "status", "effect", "step"] as const;
const asyncChildrenNames = ["apply", "prune"] as const;
type AnyCall = (...args: readonly unknown[]) => Promise<unknown>;

/** One call: its name with its object, and the stack of the author's code that made it. */
interface ContextCall {
  readonly calls: ContextCalls;
  readonly what: string;
  readonly stack: string;
}

export interface ContextCallsPorts {
  readonly clock: Clock;
  /** Aborts the run. What fails after that is nobody's fault. */
  readonly signal: AbortSignal;
  /** A call has failed after its run had ended, and nothing handled the failure. */
  failedLate(this: void, error: SetpointError): void;
}

/** The calls that have failed, by the promise that the author's code got and by the error. */
const failedCalls = new WeakMap<object, ContextCall>();

export class ContextCalls {
  readonly #ports: ContextCallsPorts;
  readonly #pending = new Set<Promise<unknown>>();
  /** Failures that nothing handles, by the promise that Node reported. */
  readonly #unhandled = new Map<object, SetpointError>();
  #hasFailed = false;
  #isOver = false;

  constructor(ports: ContextCallsPorts) {
    this.#ports = ports;
  }

  /** The same context, whose calls are followed. */
  follow(context: ReconcileContext): ReconcileContext {
    const children = this.#followAll(context.children, asyncChildrenNames, "children.");
    return { ...this.#followAll(context, asyncNames), children };
  }

  #followAll<T, Name extends keyof T & string>(members: T, names: readonly Name[], group = ""): T {
    const followed = names.map((name) => [name, this.#followed(group + name, members[name] as AnyCall)]);
    // Each function is replaced by one that takes and returns the same.
    return { ...members, ...(Object.fromEntries(followed) as Pick<T, Name>) };
  }

  #followed(name: string, call: AnyCall): AnyCall {
    const followed: AnyCall = (...args) => {
      const site = callSite(followed);
      const answer = call(...args);
      this.#pending.add(answer);
      return this.#answered(answer, () => ({
        calls: this,
        what: describeCall(name, args[0]),
        stack: framesOf(site.stack),
      }));
    };
    return followed;
  }

  /** Settles as the call does. An async function, so that the stack of an error reaches the author's code. */
  async #answered(answer: Promise<unknown>, describe: () => ContextCall): Promise<unknown> {
    try {
      return await answer;
    } catch (error) {
      this.#hasFailed = true;
      if (typeof error === "object" && error !== null) failedCalls.set(error, describe());
      throw error;
    } finally {
      this.#pending.delete(answer);
    }
  }

  /** Called when the author's code has returned: waits for the calls that it did not await. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
    // Node reports a failure that nothing handles at the end of the turn in which it happened.
    if (this.#hasFailed) await nextTurn(this.#ports.clock);
    const unhandled = this.#takeUnhandled();
    if (unhandled !== undefined) throw unhandled;
  }

  /** The run has ended: what has failed since, or fails from now on, is reported by itself. */
  end(): void {
    this.#isOver = true;
    const unhandled = this.#takeUnhandled();
    if (unhandled !== undefined) this.#ports.failedLate(unhandled);
  }

  #takeUnhandled(): SetpointError | undefined {
    const [first] = this.#unhandled.values();
    this.#unhandled.clear();
    return first;
  }

  unhandled(promise: object, reason: unknown, call: ContextCall): void {
    if (this.#ports.signal.aborted) return;
    const error = notAwaited(reason, call);
    if (this.#isOver) this.#ports.failedLate(error);
    else this.#unhandled.set(promise, error);
  }

  /** The author's code has handled the failure after all. */
  handled(promise: object): void {
    this.#unhandled.delete(promise);
  }
}

const claimed = new WeakMap<object, ContextCalls>();

/**
 * Takes over a rejection that nothing handles, as Node's event `unhandledRejection` reports it. Returns
 * whether it is the failure of a context's call; then the call's run reports it.
 */
export function claimUnhandledRejection(reason: unknown, promise: object): boolean {
  const call = typeof reason === "object" && reason !== null ? failedCalls.get(reason) : undefined;
  if (call === undefined) return false;
  claimed.set(promise, call.calls);
  call.calls.unhandled(promise, reason, call);
  return true;
}

/** The rejection was handled later, as Node's event `rejectionHandled` reports it. */
export function releaseHandledRejection(promise: object): boolean {
  const calls = claimed.get(promise);
  calls?.handled(promise);
  return calls !== undefined;
}

function notAwaited(cause: unknown, { what, stack }: ContextCall): SetpointError {
  const site = stack.split("\n", 1)[0]?.trim() ?? "";
  const message = `Cannot ignore the failure of ${what} (${site}): ${messageOf(cause)}; await the call, or handle its error`;
  const error = new SetpointError(errNotAwaited, message, { cause });
  error.stack = `${error.name}: ${message}\n${stack}`;
  return error;
}

function describeCall(name: string, argument: unknown): string {
  if (typeof argument === "string") return `${name}("${argument}")`;
  const { kind, metadata } = (argument ?? {}) as Partial<KubeObject>;
  return kind === undefined || metadata?.name === undefined
    ? `${name}()`
    : `${name}() of ${kind} "${storeKey({ ...metadata, name: metadata.name })}"`;
}

/** Enough to name the author's line and what called it; a frame that is not captured costs nothing. */
const framesMax = 4;

/** The stack of the code that called `followed`; its text is made when it is read. */
function callSite(followed: AnyCall): { readonly stack: string } {
  const site = { stack: "" };
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = framesMax;
  Error.captureStackTrace(site, followed);
  Error.stackTraceLimit = stackTraceLimit;
  return site;
}

function framesOf(stack: string): string {
  return stack
    .split("\n")
    .filter((line) => /^\s+at /u.test(line))
    .join("\n");
}
