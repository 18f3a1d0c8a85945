/** Explains why the pods of an object do not run, and counts how often they have failed in a row. */
import type { Pod } from "@setpoint/api";
import type { KubeObject } from "@setpoint/apimachinery";
import { timestampAt } from "@setpoint/host";
import type { ReconcileContext } from "@setpoint/runtime";
import { readPodEvents } from "./pod-events.ts";
import { hasEndedAtOnce, type PodProblem } from "./container-end.ts";
import { isExplainedByEvents, type PodEvent, podProblem } from "./pod-problem.ts";

/** Why a pod does not run, and what becomes of it. */
export interface PodFailure extends PodProblem {
  /** How many times in a row pods of the object have ended by themselves soon after their start. */
  readonly times: number;
  /** Before this time nothing should take the place of a pod that ended so. */
  readonly nextTry?: string;
}

type Context = Pick<ReconcileContext, "client" | "signal" | "host" | "event">;

/** An ordinary start is over by then. */
const startMsMax = 5_000;
const pauseMsFirst = 10_000;
const pauseMsMax = 300_000;
/** Between two questions for the Events of a pod that still waits. */
const eventsAgeMs = 10_000;
/** Of so many objects the failures are remembered; the oldest is forgotten first. */
const knownMax = 1_000;

/** The pause after pods of an object have failed so many times in a row: 10 s, then double, up to 5 min. */
export function pauseAfterFailures(times: number): number {
  return Math.min(pauseMsFirst * 2 ** Math.max(0, times - 1), pauseMsMax);
}

/**
 * One for all objects of a controller. It is kept in memory: a new process begins to count again, so it tries
 * sooner, never later.
 */
export class PodFailures {
  /** By the UID of the object, as long as one of its pods has a problem. */
  readonly #known = new Map<string, ObjectFailures>();

  /**
   * Why pods of the reconciled object do not run, by their names. Emits an Event on the object for each new
   * problem. A pod that is being deleted has none.
   */
  async observe(
    { metadata: { uid = "" } }: KubeObject,
    pods: readonly Pod[],
    context: Context,
  ): Promise<ReadonlyMap<string, PodFailure>> {
    const failures = new Map<string, PodFailure>();
    for (const pod of pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined)) {
      const problem = podProblem(pod) ?? (await this.#problemByEvents(uid, pod, pods, context));
      if (problem !== undefined) failures.set(pod.metadata.name ?? "", this.#of(uid).note(pod, problem, pods, context));
    }
    if (pods.length > 0 && pods.every(isReady)) this.#known.delete(uid);
    return failures;
  }

  async #problemByEvents(
    uid: string,
    pod: Pod,
    pods: readonly Pod[],
    context: Context,
  ): Promise<PodProblem | undefined> {
    if (!isExplainedByEvents(pod) || isStarting(pod, context)) return undefined;
    return podProblem(pod, await this.#of(uid).eventsOf(pod, pods, context));
  }

  #of(uid: string): ObjectFailures {
    const known = this.#known.get(uid) ?? new ObjectFailures();
    this.#known.set(uid, known);
    const oldest = this.#known.keys().next();
    if (this.#known.size > knownMax && oldest.done !== true) this.#known.delete(oldest.value);
    return known;
  }
}

interface Reported {
  readonly failure: PodFailure;
  readonly hasEnded: boolean;
}

/** The failures of the pods of one object, until all of them are ready. */
class ObjectFailures {
  #times = 0;
  /** The UIDs of all pods that there were when the latest failure was counted: they fail together. */
  #round: ReadonlySet<string> = new Set();
  /** By the UID of the pod. */
  #reported: ReadonlyMap<string, Reported> = new Map();
  #events: ReadonlyMap<string, { readonly events: readonly PodEvent[]; readonly askedMs: number }> = new Map();

  note(pod: Pod, problem: PodProblem, pods: readonly Pod[], context: Context): PodFailure {
    const { uid = "", name = "" } = pod.metadata;
    const before = this.#reported.get(uid);
    // A pod ends once.
    if (before?.hasEnded === true) return before.failure;
    const hasEnded = pod.status?.phase === "Failed";
    if (!hasEnded && before?.failure.message === problem.message) return before.failure;
    const failure = hasEnded ? this.#count(pod, problem, pods, context) : { ...problem, times: 0 };
    if (!hasEnded && isPassing(pod, context)) return failure;
    this.#reported = new Map([...only(this.#reported, pods), [uid, { failure, hasEnded }]]);
    if (hasEnded || before?.failure.reason !== problem.reason)
      context.event("Warning", problem.reason, `Pod "${name}": ${failureText(failure)}`);
    return failure;
  }

  #count(pod: Pod, problem: PodProblem, pods: readonly Pod[], { host: { clock } }: Context): PodFailure {
    if (!hasEndedAtOnce(pod)) return { ...problem, times: 0 };
    if (!this.#round.has(pod.metadata.uid ?? "")) {
      this.#times++;
      this.#round = new Set(pods.map(({ metadata }) => metadata.uid ?? ""));
    }
    const nextTry = timestampAt(clock.now() + pauseAfterFailures(this.#times));
    return { ...problem, times: this.#times, nextTry };
  }

  async eventsOf(pod: Pod, pods: readonly Pod[], context: Context): Promise<readonly PodEvent[]> {
    const { uid = "" } = pod.metadata;
    const nowMs = context.host.clock.monotonic();
    const known = this.#events.get(uid);
    if (known !== undefined && nowMs - known.askedMs < eventsAgeMs) return known.events;
    const events = await readPodEvents(pod, context);
    this.#events = new Map([...only(this.#events, pods), [uid, { events, askedMs: nowMs }]]);
    return events;
  }
}

/** What happened, how often, and what comes next. */
export function failureText({ message, times, nextTry }: PodFailure): string {
  const often = times > 1 ? `; pods failed ${times} times in a row` : "";
  return `${message}${often}${nextTry === undefined ? "" : `; the next start is not before ${nextTry}`}`;
}

/** An ordinary start passes through it, or the node has not yet reported that the pod has failed. */
function isPassing(pod: Pod, context: Context): boolean {
  return isStarting(pod, context) || (pod.status?.phase === "Running" && pod.spec.restartPolicy === "Never");
}

function isStarting({ metadata }: Pod, { host: { clock } }: Context): boolean {
  return clock.now() - Date.parse(metadata.creationTimestamp ?? "") < startMsMax;
}

function isReady({ metadata, status }: Pod): boolean {
  return (
    metadata.deletionTimestamp === undefined &&
    (status?.conditions ?? []).some(({ type, status: is }) => type === "Ready" && is === "True")
  );
}

/** The entries of pods that there still are. */
function only<T>(entries: ReadonlyMap<string, T>, pods: readonly Pod[]): readonly (readonly [string, T])[] {
  const uids = new Set(pods.map(({ metadata }) => metadata.uid));
  return [...entries].filter(([uid]) => uids.has(uid));
}
