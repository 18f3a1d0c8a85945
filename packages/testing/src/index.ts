/** The simulated world; see the package's README. */

// worlds
export type { SimulateOptions } from "./simulate.ts";
export { simulate } from "./simulate.ts";
export type { ObjectName, QuietOptions, WaitOptions, World } from "./world.ts";
export type { OutageKind } from "./node-outage.ts";
export type { ClockSkew } from "./process-clock.ts";
export type { OperatorProcess, OperatorSource } from "./simulated-operator.ts";
export { conditionOf } from "./settled.ts";
/** For choices of a test that follow from a seed, too. */
export { seededRandom } from "@setpoint/host/simulated";

// models of programs
export type { Launch, Program, ProgramModel, SimulatedVolume } from "./program-model.ts";

// etcd
export type { MemberRecord } from "./etcd/etcd-data.ts";
export type { EtcdMember } from "./etcd/etcd-member.ts";
export type { SimulatedMemberStatus } from "./etcd/etcd-model.ts";
export { EtcdModel, EtcdRefusal } from "./etcd/etcd-model.ts";
export type { WriterReport } from "./etcd/etcd-writer.ts";
export { EtcdWriter } from "./etcd/etcd-writer.ts";
