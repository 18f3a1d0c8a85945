/** What a member of the model of etcd says of itself. */

/** What the metrics of a member count. */
export interface SimulatedMeasurements {
  readonly logWrites: readonly { readonly withinSeconds: number; readonly count: number }[];
  readonly roundTrips: readonly { readonly peerId: string; readonly seconds: number; readonly count: number }[];
}

/** What a member answers to a status request. */
export interface SimulatedMemberStatus {
  readonly memberId: string;
  readonly clusterId: string;
  readonly version: string;
  readonly leaderId: string;
  readonly learner: boolean;
  readonly raftIndex: number;
  readonly revision: number;
  readonly dbSize: number;
  readonly dbSizeInUse: number;
  /** Alarms: NOSPACE of members whose file has reached its quota. */
  readonly errors: readonly string[];
}
