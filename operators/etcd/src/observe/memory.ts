/** What the process remembers of a cluster between two observations. */
import { type DiskSamples, noDiskSamples, noSilence, type Silence } from "@setpoint/data-service";
import { noReach, type Reach } from "./reach-members.ts";
import type { RoundTripWindows } from "./round-trips.ts";

/** One value, which goes into an observation and comes out of it. A new process begins with `nothing`. */
export interface Memory {
  readonly silence: Silence;
  readonly disks: DiskSamples;
  readonly roundTrips: RoundTripWindows;
  readonly reach: Reach;
  /** The latest revision that this process has seen. */
  readonly revision: number;
  /** A member that runs does not answer: maybe the credentials are old ones. */
  readonly doubtsCredentials: boolean;
}

/** Before the first observation. */
export const nothing: Memory = {
  silence: noSilence,
  disks: noDiskSamples,
  roundTrips: new Map(),
  reach: noReach,
  revision: 0,
  doubtsCredentials: false,
};
