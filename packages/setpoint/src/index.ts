/** The front door for authors of operators; see the package's README. */

// kinds
export type { Condition, Kind, KubeObject, ObjectOf } from "@setpoint/apimachinery";
export { createKind } from "@setpoint/apimachinery";
export type { KindRef, Stored } from "@setpoint/client";
export { age, conditions, defineKind, field, immutable, quantity, rule } from "@setpoint/schema";

// controllers
export type { ConditionInit, Effect, ReconcileContext, Result, Step, StepFacts } from "@setpoint/runtime";
export { act, controller, minutes, outcome, rest, seconds, TerminalError, wait, watching } from "@setpoint/runtime";
export type { ConditionProtocol } from "@setpoint/runtime";
export { declareConditions } from "@setpoint/runtime";
export type { Random } from "@setpoint/host";
export { randomSuffix } from "@setpoint/host";

// operators
export type { Operator, OperatorInit } from "./operator.ts";
export { defineOperator } from "./operator.ts";
export type { PolicyRule } from "./policy-rule.ts";
export type { WriteVerb } from "./rules-of.ts";
export type { InstallExtra, InstallOptions } from "./install-manifests.ts";
export { installManifests } from "./install-manifests.ts";
export type { RunOptions } from "./run-operator.ts";
export { runOperator } from "./run-operator.ts";
