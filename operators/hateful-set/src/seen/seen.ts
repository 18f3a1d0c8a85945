/** What decides about an act: the targets, their pods, and what they report; facts without decisions. */
import type { Condition, Stored } from "setpoint";
import type { Pod } from "setpoint/kinds";
import type { HatefulSet } from "../kind/hateful-set.ts";

/** A member as the status of its kind declares it. */
export interface SeenMember {
  readonly name: string;
  readonly role: string;
  /** Undefined: the kind does not say. */
  readonly healthy: boolean | undefined;
}

/** A PodDisruptionBudget that covers a pod. */
export interface SeenBudget {
  readonly name: string;
  readonly disruptionsAllowed: number;
}

export interface SeenPod {
  /** Whether a label of it, of an owner or of the namespace opts in, and none of them opts out. */
  readonly isOptedIn: boolean;
  readonly pod: Stored<Pod>;
  readonly isReady: boolean;
  readonly isEnding: boolean;
  /** What its labels say, in lower case: of keys such as `role` and `postgres.setpoint.dev/role`. */
  readonly labelRoles: readonly string[];
  readonly budgets: readonly SeenBudget[];
}

/** The outermost owner of some pods, which keeps them alive. */
export interface SeenTarget {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** It does not exist any more. */
  readonly isGone: boolean;
  /** Why its status is not known. */
  readonly unreadable: string | undefined;
  /** How many pods its spec asks for, where it says so. */
  readonly size: number | undefined;
  readonly pods: readonly SeenPod[];
  /** Empty for kinds that do not declare members with roles. */
  readonly members: readonly SeenMember[];
  readonly conditions: readonly Condition[];
  /** Its status in one line, for records. */
  readonly said: string;
}

export interface SeenService {
  readonly name: string;
  readonly uid: string;
  readonly selector: Readonly<Record<string, string>>;
}

export interface Seen {
  readonly set: Stored<HatefulSet>;
  /** Undefined while nothing is decided: then nothing was read. */
  readonly targets: readonly SeenTarget[] | undefined;
  /** Services that the spec names, where they exist. */
  readonly services: readonly SeenService[];
  /** The NetworkPolicies of this HatefulSet: its faults that last. */
  readonly policies: readonly string[];
}

/** Whether pods of the kind vote: then a majority must remain, and else one more healthy member. */
export function hasVoters({ members }: SeenTarget): boolean {
  return members.some(({ role }) => ["leader", "follower"].includes(role.toLowerCase()));
}
