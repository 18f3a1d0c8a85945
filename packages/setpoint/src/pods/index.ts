/** Why the pods of an object do not run, in words for a condition and an Event. */
export type { PodProblem } from "./container-end.ts";
export { hasEndedAtOnce } from "./container-end.ts";
export { podFailureRule } from "./pod-events.ts";
export type { PodFailure } from "./pod-failures.ts";
export { failureText, pauseAfterFailures, PodFailures } from "./pod-failures.ts";
export type { PodEvent } from "./pod-problem.ts";
export { podProblem } from "./pod-problem.ts";
