/** How a container ended, and why, by its status and the words of its program; pure. */
import type { Container, ContainerStateTerminated, Pod } from "@setpoint/api";
import { causeOf, type Failure, type FailureCause, namesCause, outOfMemory } from "./failure-cause.ts";
import { logExcerpt, shortened } from "./log-excerpt.ts";
import { withoutSecrets } from "./without-secrets.ts";

/** Why a pod does not run or has failed. */
export interface PodProblem {
  /** One CamelCase word, for a condition or an Event: `DiskFull`, `OutOfMemory`, `ImageUnavailable`. */
  readonly reason: string;
  /** What happened and what to do, of at most 800 characters, without a full stop. */
  readonly message: string;
}

const wordsLengthMax = 400;
/** Of a termination message, as kubelets limit it. */
const outputLengthMax = 4_096;
/** Signals that end a program, by the exit code. */
const signals: Readonly<Record<number, string>> = { 137: "SIGKILL", 143: "SIGTERM" };
/** A program that ends sooner does not accept its configuration, its data or its volume. */
const atOnceMs = 10_000;
/** The program was never started; a kubelet gives no time of its start. */
const unstarted = /^(?:StartError|ContainerCannotRun)$/;

/** Why a container has ended. Of one that was killed from outside, the log says nothing. */
export function endProblem(pod: Pod, container: Container, state: ContainerStateTerminated): PodProblem {
  const { exitCode, reason = "Error", message = "" } = state;
  const signal = signals[exitCode];
  const words = signal === undefined ? wordsOf(pod, message) : "";
  const cause = causeOfEnd({ pod, container, text: words }, state);
  const how = signal === undefined ? reason : `${reason}, ${signal}`;
  const advice = cause.advice === "" ? "" : `; ${cause.advice}`;
  const text = `container "${container.name}" ended with exit code ${exitCode} (${how})${after(words)}${advice}`;
  return { reason: cause.reason, message: text };
}

function causeOfEnd(failure: Failure, state: ContainerStateTerminated): FailureCause {
  if (state.reason === "OOMKilled") return outOfMemory(failure.container);
  if (wasKilled(state)) return { reason: "ContainerKilled", advice: "something outside of the container ended it" };
  return causeOf(failure) ?? { reason: "ContainerFailed", advice: "" };
}

/**
 * Whether a program of this pod that ended did so by itself, soon after its start: what takes its place will
 * most likely end in the same way.
 */
export function hasEndedAtOnce({ status }: Pod): boolean {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return all.some(({ state }) => state?.terminated !== undefined && isEndAtOnce(state.terminated));
}

function isEndAtOnce(state: ContainerStateTerminated): boolean {
  const { exitCode, reason = "", startedAt, finishedAt } = state;
  if (exitCode === 0 || wasKilled(state)) return false;
  if (unstarted.test(reason)) return true;
  return (
    startedAt !== undefined && finishedAt !== undefined && Date.parse(finishedAt) - Date.parse(startedAt) < atOnceMs
  );
}

/** By a signal from outside; a program that needs too much memory will need it again. */
function wasKilled({ exitCode, reason }: ContainerStateTerminated): boolean {
  return reason !== "OOMKilled" && signals[exitCode] !== undefined;
}

/** The telling part of what a program or a node has said, without secrets. */
export function wordsOf(pod: Pod, output: string): string {
  return shortened(logExcerpt(withoutSecrets(output.slice(-outputLengthMax), pod), namesCause), wordsLengthMax);
}

/** These words after a colon, when there are some. */
export function after(words: string): string {
  return words === "" ? "" : `: ${words}`;
}
