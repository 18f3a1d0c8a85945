/** The front door for authors of operators; see the package's README for the other entries. */

// a kind
export type { Condition, Kind, KubeObject, ObjectOf } from "@setpoint/apimachinery";
export { createKind } from "@setpoint/apimachinery";
export type { KindRef, Stored } from "@setpoint/client";
export { age, conditions, defineKind, field, immutable, rule } from "@setpoint/schema";

// its controller
export type { ConditionInit, Effect, ReconcileContext } from "@setpoint/runtime";
export { controller, declareConditions, keyOf, watching } from "@setpoint/runtime";

// when to run again
export type { Result, Step, StepFacts } from "@setpoint/runtime";
export { act, awaitChange, minutes, requeueAfter, rest, seconds, wait } from "@setpoint/runtime";
export { parseDuration } from "@setpoint/apimachinery";

// what went wrong
export { isAlreadyExists, isConflict, isNotFound } from "@setpoint/apimachinery";
export { outcome, TemporaryError, TerminalError } from "@setpoint/runtime";

// a name for a new object
export { randomSuffix } from "@setpoint/host";

// the operator
export type { Operator } from "./operator.ts";
export { defineOperator } from "./operator.ts";
