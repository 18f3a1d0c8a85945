/** What all operators of data services share; see the README of the package. */
export { Backup } from "./kinds/backup.ts";
export { BackupPlan } from "./kinds/backup-plan.ts";
export type { PlannedStep } from "./kinds/planned-step.ts";
export { plannedSteps } from "./kinds/planned-step.ts";
export { Restore } from "./kinds/restore.ts";
export { RestoreDrill } from "./kinds/restore-drill.ts";
export { BackupStore } from "./kinds/backup-store.ts";
export { ServiceBinding } from "./kinds/service-binding.ts";
export { WorkloadBinding } from "./kinds/workload-binding.ts";
export type { ExternalInstance } from "./kinds/external-instance.ts";
export { externalInstance } from "./kinds/external-instance.ts";
export type { InstanceReference } from "./kinds/instance.ts";
export { instanceReference } from "./kinds/instance.ts";
export type { DataServiceInit } from "./data-service-operator.ts";
export { defineDataService } from "./data-service-operator.ts";
export type { ControllerOptions } from "./transfer/controller-options.ts";
export type { Mount } from "./transfer/store-mounts.ts";
export { agentMounts, restricted, securedPod } from "./transfer/transfer-pod.ts";
export { dataLabels } from "./kinds/labels.ts";
export type { ConsentProblem } from "./engine/consent.ts";
export { externalSecretProblem } from "./engine/consent.ts";
export { BoundedMap } from "./engine/bounded-map.ts";
export type { RestoreMark } from "./engine/restore-mark.ts";
export { restoreMarkOf } from "./engine/restore-mark.ts";
export type {
  DataFolder,
  DataFolderPaths,
  EngineControl,
  ExternalSources,
  InstanceState,
  Rights,
  SnapshotSource,
  UserAdministration,
  UserCredentials,
} from "./engine/control.ts";

export type { InstanceAccess } from "./engine/instance-access.ts";

// abilities that an engine may have
export type { EngineLog, LogSegmentFacts, TimelineFork } from "./engine/log.ts";
export type { Election, EngineRoles, MemberRole } from "./engine/roles.ts";
export { electPrimary } from "./engine/roles.ts";
export type { EngineTarget, Replay, ReplaySettings, RestoreTarget, TargetKind } from "./engine/target.ts";
export { targetRefusal } from "./engine/target.ts";
export type { EngineVolumes, MemberClaim } from "./engine/volumes.ts";
export type { Archive, ArchiveGap, BaseBackup, ComparePositions, RecoverableWindow } from "./archive/archive-window.ts";
export { gapsOf, neededSegments, wayTo, windowOf } from "./archive/archive-window.ts";
export type { ArchivedSegment } from "./archive/archived-file.ts";
export type { ArchiveReport } from "./archive/archive-report.ts";
export { archiveReportSchema } from "./archive/archive-report.ts";
export { archivedCondition } from "./archive/archive-condition.ts";
export type { SeenArchive, ServerArchive } from "./transfer/archive-access.ts";
export { observeArchive, watchStores } from "./transfer/archive-access.ts";

// the claim with the data, for engines whose server runs on one
export { dataClaimStatus } from "./data-claim/data-claim-status.ts";
export type { DataClaimStatus } from "./data-claim/data-claim-status.ts";
export type { DataClaim } from "./data-claim/data-claim.ts";
export { ensureDataClaim, observeDataClaim, preparedClaim } from "./data-claim/data-claim.ts";
export type { DataClaimDecision } from "./data-claim/decide-data-claim.ts";

// certificates
export type { CertificateFacts, CertificateIssuer, KeyPair, IssuerPorts } from "./tls/certificate-issuer.ts";
export type { CertificateReport, CertificateSubject } from "./tls/certificate-keeper.ts";
export { CertificateKeeper } from "./tls/certificate-keeper.ts";
export type { CertificateTimes, DueCertificates, WantedCertificates, WantedLeaf } from "./tls/certificate-plan.ts";
export { certificateTimes } from "./tls/certificate-plan.ts";
export type { CertificatePlace } from "./tls/certificate-secrets.ts";
export { textOf } from "./tls/certificate-secrets.ts";
export type { LeafState } from "./tls/certificate-state.ts";
export { simulatedIssuer } from "./tls/simulated-issuer.ts";
export { x509Issuer } from "./tls/x509-issuer.ts";

// versions and plans
export type { Lifetime, LifetimeReport, LifetimeState } from "./versions/lifetime.ts";
export type { CatalogueVersion, UpgradeRules } from "./versions/version-catalogue.ts";
export { compareVersions, upgradePath, versionRefusal, versionReport } from "./versions/version-catalogue.ts";
export type { CataloguePlan, ChosenPlan, PlanInForce } from "./plans/plan-catalogue.ts";
export { choosePlan, planNamed, planReport } from "./plans/plan-catalogue.ts";
export { readPlans } from "./plans/plans-file.ts";

// bindings
export { instanceAccess } from "./binding/instance-access.ts";
export { serviceBindingOperator } from "./binding/projection/workload-bindings.ts";

// operations and maintenance windows
export { Operation } from "./kinds/operation.ts";
export type { MaintenanceWindow, WindowState } from "./operations/maintenance-window.ts";
export {
  closedWindow,
  isOpen,
  maintenanceWindows,
  windowRefusal,
  windowState,
} from "./operations/maintenance-window.ts";
export type { OperationReport } from "./operations/operation-step.ts";
export type { EngineOperations, OperationRequest } from "./operations/operations.ts";

// fencing
export type { FencingDecision, SeenFencing } from "./fencing/decide-fencing.ts";
export {
  decideFencing,
  fencedText,
  fencingCondition,
  fencingRecord,
  fencingRefusalText,
  nothingFenced,
} from "./fencing/decide-fencing.ts";
export type { FenceableInstance } from "./fencing/fence-operation.ts";
export { changeFencing } from "./fencing/fence-operation.ts";
export type { FencingSpec, FencingStatus } from "./fencing/fencing-fields.ts";
export { fencingSpec, fencingStatus } from "./fencing/fencing-fields.ts";

// hibernation
export type { AwakeMembers, HibernatingInstance } from "./hibernation/hibernate-operation.ts";
export { changeHibernation } from "./hibernation/hibernate-operation.ts";

// members: claims, Services, budget, the node that a new one avoids
export { avoidingNode } from "./members/avoided-node.ts";
export type { DeletionPolicy, DueGrowth, VolumeGrowth } from "./members/claims.ts";
export { dueGrowth, isClaimRetained, isClaimSmall, isMisowned, retain } from "./members/claims.ts";
export { applyMemberBudget, applyMemberServices } from "./members/apply-objects.ts";
export { isBudgetAsWanted } from "./members/disruption-budget.ts";
export type { MemberSet } from "./members/member-set.ts";
export type { ServiceJudgement, ServiceRole } from "./members/services.ts";
export { isOutsideOfLoopback, judgeServices } from "./members/services.ts";

// what is remembered of members
export type { DiskHealth, DiskSamples, WriteBucket } from "./members/disks.ts";
export { diskHealth, diskSampleMs, isDiskSampleDue, noDiskSamples, noteDiskSample } from "./members/disks.ts";
export type { Silence } from "./members/silence.ts";
export { noSilence, noteSilence } from "./members/silence.ts";

// acceptance tests
export type { EngineAcceptance, SpecChange } from "./acceptance/engine-acceptance.ts";
export type { AcceptanceCheckName } from "./kinds/acceptance-check-names.ts";
export { AcceptanceRun } from "./kinds/acceptance-run.ts";
