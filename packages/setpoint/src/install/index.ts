/**
 * What installs an operator on a cluster, checks its rights, moves its objects to a new version and removes
 * it.
 */

// installing
export type { InstalledRun, InstallExtra, InstallOptions } from "../install-manifests.ts";
export { installManifests } from "../install-manifests.ts";
export { removeDeskConfigurations } from "../desk-configurations.ts";
export { relatedImageVariable } from "../related-image.ts";
export { dataPolicyName } from "../data-kinds.ts";

// manifests as text
export { kubernetesYaml } from "./kubernetes-yaml.ts";

// permissions
export type { OperatorInit, RelatedImage } from "../operator.ts";
export type { PolicyRule } from "../policy-rule.ts";
export type { WriteVerb } from "../rules-of.ts";
export type { MissingRight, WantedRules } from "../rights/check-rights.ts";
export { findMissingRights, missingRightSentence } from "../rights/check-rights.ts";
export type { Right } from "../rights/right.ts";
export { missingRights, onlyUsedRights, rightsOf, rulesOfUse, unusedRights, withUsedRights } from "../rights/right.ts";

// versions of stored objects
export type { MigrationOptions, MigrationReport } from "../migrate-storage.ts";
export { migrateStorage } from "../migrate-storage.ts";

// removing
export { appliedAnnotation } from "@setpoint/runtime";
export type { FinalizerPlan, HeldObject, PlanOptions } from "../remove-finalizers.ts";
export { planFinalizerRemoval, removeFinalizers } from "../remove-finalizers.ts";
