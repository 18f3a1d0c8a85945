/** Runs an operator as a process of its own; Node only. */
export type { OperatorProcessOptions } from "./operator-process.ts";
export { isOperator, runOperatorProcess } from "./operator-process.ts";
export { installKinds } from "./install-kinds.ts";
