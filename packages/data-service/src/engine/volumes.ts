/** The ability "volumes": an engine whose members have more than one claim. */
import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "setpoint";
import type { PersistentVolumeClaim } from "setpoint/kinds";

/** One claim of a member. */
export interface MemberClaim {
  /** What it is for: "data", "log", or the name of a tablespace. */
  readonly purpose: string;
  readonly claim: PersistentVolumeClaim;
  /** How a restore fills it: from the backup, by replay of the log, or not at all. */
  readonly prepared: "fromBackup" | "byReplay" | "empty";
}

/** The claims of members; the first one has the data. */
export interface EngineVolumes<Instance extends KubeObject> {
  claims(instance: Stored<Instance>, member: string): readonly [MemberClaim, ...MemberClaim[]];
}
