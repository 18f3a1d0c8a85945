/** The front door for authors of operators; see the package's README. */

// kinds
export type { Kind, KubeObject, ObjectOf } from "@setpoint/apimachinery";
export type { Stored } from "@setpoint/client";

// controllers
export type { ReconcileContext, Result, Step } from "@setpoint/runtime";
export { act, controller, minutes, outcome, rest, seconds, TerminalError, wait, watching } from "@setpoint/runtime";

// operators
export type { Operator, OperatorInit } from "./operator.ts";
export { defineOperator } from "./operator.ts";
export type { PolicyRule } from "./policy-rule.ts";
