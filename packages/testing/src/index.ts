/** The simulated world; see the package's README. */

// worlds
export type { SimulateOptions } from "./simulate.ts";
export { simulate } from "./simulate.ts";
export type { ObjectName, QuietOptions, SettledOptions, WaitOptions, World } from "./world.ts";
export type { OutageKind } from "./node-outage.ts";
export type { ClockSkew } from "./process-clock.ts";
export type { OperatorProcess, OperatorSource } from "./simulated-operator.ts";
export { conditionOf } from "./settled.ts";
/** For choices of a test that follow from a seed, too. */
export { seededRandom } from "@setpoint/host/simulated";

// faults
export type {
  ChildChoice,
  EventSite,
  Fault,
  FaultKind,
  ObservationFault,
  ProcessFault,
  StepSite,
  TimeSite,
  WorldFault,
  WriteFault,
  WriteSite,
} from "./faults/fault.ts";
export { describeFault, faultNames, isHostile } from "./faults/fault.ts";

// stories
export type { Setting, Story, StoryInit, StoryStep, Subject } from "./explore/story.ts";
export { apply, given, happens, patch, remove, run, story, unsettled } from "./explore/story.ts";

export { worldFrom } from "./explore/world-from.ts";

// exploring
export type { Exploration, ExploreOptions, Failure, FinishedRun, PairCounts } from "./explore/exploration.ts";
export { explore } from "./explore/explore.ts";
export type { KindCoverage, StoryCoverage } from "./explore/coverage.ts";
export { coverageOf, coverageTable } from "./explore/coverage.ts";
export type { RunReport, Schedule } from "./explore/run-schedule.ts";

export { runText } from "./explore/run-text.ts";
export { runPage } from "./explore/run-page.ts";

// laws
export type { LawOptions, TestFunction } from "./laws/reconciler-laws.ts";
export { reconcilerLaws, replaySchedule, testLaws } from "./laws/reconciler-laws.ts";
export type { KindWithSchema, SpecLawOptions, SpecReport } from "./laws/spec-laws.ts";
export { exploreSpec, specLaws } from "./laws/spec-laws.ts";
export { reproLine } from "./laws/failure-text.ts";
export type { Moment } from "./laws/exploration-log.ts";
export type { ExploredModule, ModuleOptions, Summary } from "./laws/explore-module.ts";
export type { ProgressCounts } from "./laws/progress.ts";
export { exploreModule } from "./laws/explore-module.ts";
export type { ModuleLawsOptions } from "./laws/module-laws.ts";
export { testModuleLaws } from "./laws/module-laws.ts";

// guidelines
export type {
  AwayOptions,
  GuidelineOptions,
  NotApplicable,
  OlderOptions,
  PrimitiveOptions,
  VersionOptions,
} from "./laws/guidelines/guideline.ts";
export type { GuidelineName } from "./laws/guidelines/operator-guidelines.ts";
export { guidelineProblem, operatorGuidelines } from "./laws/guidelines/operator-guidelines.ts";

export type { KindLawsOptions, KindLawsReport, LawfulKind } from "./kind-laws.ts";
export { kindLaws } from "./kind-laws.ts";

// oracles
export type { BrokenRule, Change, Judge, Oracle, RunEnd, WorldView } from "./oracles/oracle.ts";
export { excuseFaults } from "./oracles/excuse-faults.ts";
export { invariant } from "./oracles/oracle.ts";
export { allOracles } from "./oracles/all-oracles.ts";
export type { Hop, Sighting } from "./onlooker.ts";

// models of programs
export type {
  BeyondRepair,
  Launch,
  OutsideModel,
  Program,
  ProgramModel,
  SimulatedVolume,
  WorldModel,
} from "./program-model.ts";
export { idleProgram } from "./program-model.ts";

// transfers of backups
export type { StoredSnapshot } from "./data-service/backup-vault.ts";
export { BackupVault, TransferFailure } from "./data-service/backup-vault.ts";
export type { SimulatedValues } from "./data-service/simulated-probe.ts";
export type { SimulatedSnapshot, SimulatedWay, SnapshotOrigin, WayFinder } from "./data-service/transfer-model.ts";
export { simulatedOperatorImage, TransferModel } from "./data-service/transfer-model.ts";

// etcd
export type { MemberRecord } from "./etcd/etcd-data.ts";
export type { EtcdMember } from "./etcd/etcd-member.ts";
export type { SimulatedMeasurements, SimulatedMemberStatus } from "./etcd/etcd-answers.ts";
export { EtcdModel } from "./etcd/etcd-model.ts";
export { EtcdRefusal } from "./etcd/etcd-refusal.ts";
export type { WriterReport } from "./etcd/etcd-writer.ts";
export { EtcdWriter } from "./etcd/etcd-writer.ts";

// systems outside of the cluster
export type { Outage } from "./operands/reachability.ts";
export { Reachability } from "./operands/reachability.ts";
export type { NewOrder, Order, OrderServiceOptions } from "./operands/order-service.ts";
export { OrderRefusal, OrderService } from "./operands/order-service.ts";
