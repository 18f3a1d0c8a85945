/** The front door for authors of operators; see the package's README. */

// kinds
export type { Condition, Kind, KubeObject, ObjectOf } from "@setpoint/apimachinery";
export { createKind } from "@setpoint/apimachinery";
export type { KindRef, Stored } from "@setpoint/client";
export { age, conditions, defineKind, exactlyOneOf, field, immutable, quantity, rule } from "@setpoint/schema";

// controllers
export type { ConditionInit, Effect, ReconcileContext, Result, Step, StepFacts } from "@setpoint/runtime";
export { act, controller, minutes, outcome, rest, seconds, TerminalError, wait, watching } from "@setpoint/runtime";
export type { ConditionProtocol } from "@setpoint/runtime";
export { declareConditions } from "@setpoint/runtime";
// what wakes a controller, and what runs beside it
export type {
  Daemon,
  FieldChange,
  Predicate,
  Priority,
  PushSource,
  RateLimit,
  Source,
  WriteLimits,
} from "@setpoint/runtime";
export { allOf, annotationsChanged, anyOf, changed, generationChanged, labelsChanged, not } from "@setpoint/runtime";
export { cron, every, fromIterable, keyOf, nextCronRun, onChange, pushSource, timer } from "@setpoint/runtime";
export { requeueAfter, TemporaryError } from "@setpoint/runtime";
// what it writes on children
export { appliedAnnotation } from "@setpoint/runtime";
export type { Random } from "@setpoint/host";
export { randomSuffix } from "@setpoint/host";

// before a write is accepted
export type { AdmissionContext, WebhookDefinition, WebhookInit } from "@setpoint/runtime";
export { webhooks } from "@setpoint/runtime";
export type { AdmissionPolicy, AdmissionPolicyOptions } from "./admission-policy.ts";
export { admissionPolicy } from "./admission-policy.ts";
export type { WebhookPlace } from "./webhook-manifests.ts";
export { webhookConfigurations, webhooksName } from "./webhook-manifests.ts";

// versions of kinds
export type { MigrationOptions, MigrationReport } from "./migrate-storage.ts";
export { migrateStorage } from "./migrate-storage.ts";

// operators
export type { Operator, OperatorInit } from "./operator.ts";
export { defineOperator } from "./operator.ts";
export type { PolicyRule } from "./policy-rule.ts";
export type { WriteVerb } from "./rules-of.ts";
export type { InstallExtra, InstallOptions } from "./install-manifests.ts";
export { dataPolicyName } from "./data-kinds.ts";
export { installManifests } from "./install-manifests.ts";
export type { RunOptions } from "./run-operator.ts";
export { runOperator } from "./run-operator.ts";

// rights
export type { MissingRight, WantedRules } from "./rights/check-rights.ts";
export { findMissingRights, missingRightSentence } from "./rights/check-rights.ts";
export type { Right } from "./rights/right.ts";
export { missingRights, onlyUsedRights, rightsOf, rulesOfUse, unusedRights, withUsedRights } from "./rights/right.ts";

// taking an operator away
export type { FinalizerPlan, HeldObject, PlanOptions } from "./remove-finalizers.ts";
export { planFinalizerRemoval, removeFinalizers } from "./remove-finalizers.ts";
