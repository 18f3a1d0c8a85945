/**
 * Which reconciles failed in their last run: an operator that fails for ever is as quiet at rest as one that
 * works.
 */
import { isSetpointError, messageOf } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import type { Clock, Span, Tracer } from "@setpoint/host";
import { type ControllerDefinition, isTerminalError, type Daemon, storeKey } from "@setpoint/runtime";

/** A reconcile, cleanup or daemon whose last run threw. */
export interface FailingReconcile {
  readonly controller: string;
  readonly kind: KindRef;
  /** `namespace/name`. */
  readonly key: string;
  /** Absent for a reconcile or a cleanup. */
  readonly daemon?: string;
  /** Whether the run was a cleanup. */
  readonly isCleanup?: boolean;
  readonly error: unknown;
  /** Failures in a row. */
  readonly times: number;
  /** When the first of them happened, in virtual time. */
  readonly sinceMs: number;
  /** Whether the runtime retries it. */
  readonly isRetried: boolean;
}

/** One for all replicas of an operator: another replica may have run the key since. */
export class ReconcileFailures {
  readonly #failing = new Map<string, FailingReconcile>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get all(): readonly FailingReconcile[] {
    return [...this.#failing.values()];
  }

  failed(
    what: Pick<FailingReconcile, "controller" | "kind" | "key" | "daemon" | "isCleanup">,
    error: unknown,
    isRetried: boolean,
  ): void {
    const id = idOf(what);
    const { times = 0, sinceMs = this.#clock.monotonic() } = this.#failing.get(id) ?? {};
    this.#failing.set(id, { ...what, error, times: times + 1, sinceMs, isRetried });
  }

  succeeded(what: Pick<FailingReconcile, "controller" | "key" | "daemon">): void {
    this.#failing.delete(idOf(what));
  }
}

function idOf({ controller, key, daemon = "" }: Pick<FailingReconcile, "controller" | "key" | "daemon">): string {
  return `${controller} ${key} ${daemon}`;
}

/** A daemon that has run for this long since its restart has recovered. */
const recoveredAfterMs = 60_000;
const suspended = "ERR_SUSPENDED";

/**
 * Records the failures of one process. The runtime's spans say how a run ends; they also hold failures around
 * the author's function, such as a status that the server refuses. What the function itself throws is
 * recorded too, because the runtime turns some refusals into a requeue.
 */
export class FailureObserver {
  readonly #failures: ReconcileFailures;
  readonly #clock: Clock;
  readonly #definitions = new Map<string, ControllerDefinition>();
  /** What the author's function threw in the present run, by controller and key. */
  readonly #thrown = new Map<string, unknown>();
  /** Keys whose present run is a cleanup. */
  readonly #cleaning = new Set<string>();
  #isStopped = false;

  constructor(failures: ReconcileFailures, clock: Clock) {
    this.#failures = failures;
    this.#clock = clock;
  }

  /** The process is dead: runs that still end in it do not count. */
  stop(): void {
    this.#isStopped = true;
  }

  /** The same controller, observed. */
  observed(definition: ControllerDefinition): ControllerDefinition {
    const { name, reconcile, cleanup, releaseData, daemons } = definition;
    this.#definitions.set(name, definition);
    return {
      ...definition,
      reconcile: this.#observedRun(name, reconcile),
      cleanup: this.#observedCleanup(name, cleanup),
      ...(releaseData === undefined ? {} : { releaseData: this.#observedCleanup(name, releaseData) }),
      ...(daemons === undefined ? {} : { daemons: this.#observedDaemons(definition, daemons) }),
    };
  }

  /** For the host of the process. */
  get tracer(): Tracer {
    return {
      startSpan: (_name, { attributes = {}, parent, kind } = {}) => {
        const { controller, "k8s.object": key } = attributes;
        const isRun = parent === undefined && kind !== "client";
        if (!isRun || typeof controller !== "string" || typeof key !== "string") return idleSpan;
        return { ...idleSpan, end: (error) => this.#runEnded(controller, key, error) };
      },
    };
  }

  #runEnded(controller: string, key: string, runError: unknown): void {
    const id = idOf({ controller, key });
    const thrown = this.#thrown.get(id);
    const error = thrown ?? runError;
    this.#thrown.delete(id);
    const isCleanup = this.#cleaning.delete(id);
    const kind = this.#definitions.get(controller)?.kind;
    if (this.#isStopped || kind === undefined) return;
    if (error === undefined) this.#failures.succeeded({ controller, key });
    else this.#failures.failed({ controller, kind, key, isCleanup }, error, !isTerminalError(runError));
  }

  #observedRun(controller: string, run: ControllerDefinition["reconcile"]): ControllerDefinition["reconcile"] {
    return async (object, context, steps) => {
      try {
        return await run(object, context, steps);
      } catch (error) {
        const isFailure = !isSetpointError(error, suspended) && !context.signal.aborted;
        if (isFailure) this.#thrown.set(idOf({ controller, key: storeKey(object.metadata) }), error);
        throw error;
      }
    };
  }

  #observedCleanup(controller: string, run: ControllerDefinition["cleanup"]): ControllerDefinition["cleanup"] {
    const observed = this.#observedRun(controller, run);
    return (object, context, steps) => {
      this.#cleaning.add(idOf({ controller, key: storeKey(object.metadata) }));
      return observed(object, context, steps);
    };
  }

  #observedDaemons(
    { name: controller, kind }: ControllerDefinition,
    daemons: Readonly<Record<string, Daemon>>,
  ): Readonly<Record<string, Daemon>> {
    const observe =
      (name: string, daemon: Daemon): Daemon =>
      async (object, context) => {
        const what = { controller, kind, key: storeKey(object.metadata), daemon: name };
        const recovered = this.#clock.setTimer(() => this.#failures.succeeded(what), recoveredAfterMs);
        try {
          await daemon(object, context);
          this.#failures.succeeded(what);
        } catch (error) {
          if (!this.#isStopped && !context.signal.aborted) this.#failures.failed(what, error, !isTerminalError(error));
          throw error;
        } finally {
          recovered.cancel();
        }
      };
    return Object.fromEntries(Object.entries(daemons).map(([name, daemon]) => [name, observe(name, daemon)]));
  }
}

const idleSpan: Span = { traceparent: undefined, set() {}, event() {}, end() {} };

/** The failure's message, with the messages of its causes. */
export function failureMessage(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? messageOf(error) : `${messageOf(error)}: ${failureMessage(cause)}`;
}

/** For the person whose test fails: the object, the error and its stack. */
export function describeFailing(failing: FailingReconcile): string {
  const { controller, kind, key, error, times, sinceMs } = failing;
  const count = times === 1 ? "it failed once" : `it failed ${times} times in a row`;
  return [
    `${runOf(failing)} of ${kind.kind} "${key}" by controller "${controller}" still fails at rest: ${failureMessage(error)}`,
    `${count}, first at ${(sinceMs / 1_000).toFixed(3)} s`,
    stackOf(error),
  ].join("\n");
}

function runOf({ daemon, isCleanup = false }: FailingReconcile): string {
  if (daemon !== undefined) return `Daemon "${daemon}"`;
  return isCleanup ? "Cleanup" : "Reconcile";
}

/** Without the frames of the runtime that called the author's function. */
function stackOf(error: unknown): string {
  if (!(error instanceof Error) || error.stack === undefined) return String(error);
  const lines = error.stack.split("\n");
  const end = lines.findIndex((line) => /[/\\]reconcile-failures\.[jt]s:/.test(line));
  return (end < 0 ? lines : lines.slice(0, end)).join("\n");
}
