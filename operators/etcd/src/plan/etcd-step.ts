/** The steps that a plan of an etcd cluster may take, and how long it waits. */
import { act as actOn, rest, type Step } from "setpoint";
import type { SeenMember } from "../seen/seen.ts";
import type { FieldRefusal } from "../kind/accepted-plan.ts";
import { refusalText } from "../kind/accepted-spec.ts";

/** So many of these members must run and answer now: asked again just before a step that could do harm. */
export interface Answering {
  readonly members: readonly string[];
  readonly atLeast: number;
}

export interface Actions {
  /** Issues, renews and replaces certificates and their authority, as far as that is due. */
  readonly maintainCertificates: Record<never, never>;
  /** Makes root with the password in its Secret, and turns authentication on. */
  readonly enableAuthentication: Record<never, never>;
  /** Creates the Secret with the login of root again. */
  readonly restoreRootSecret: Record<never, never>;
  readonly applyServices: Record<never, never>;
  /**
   * Creates the volume (if the cluster has volumes) and the pod of a member that is or will be in etcd's
   * list.
   */
  readonly startMember: {
    readonly member: string;
    readonly initialCluster: readonly string[];
    readonly state: "new" | "existing";
  };
  /** The same for all members of the first start that have no pod yet, at once, with the missing Services. */
  readonly startFounders: { readonly members: readonly string[]; readonly initialCluster: readonly string[] };
  /** Adds or removes the cluster as the owner of a volume, as `deletionPolicy` says. */
  readonly changeOwner: { readonly member: string };
  /** Restores the labels of a member's pod and volume. */
  readonly restoreLabels: { readonly member: string };
  readonly deletePod: { readonly member: string };
  readonly deleteVolume: { readonly member: string };
  /** Adds a member to etcd and starts it, on another node than the member whose place it takes. */
  readonly addLearner: { readonly replaces?: string };
  readonly promote: { readonly member: string; readonly id: string };
  /** Removes a member from etcd, and deletes its pod. */
  readonly removeMember: { readonly member: string; readonly id: string };
  readonly moveLeader: { readonly from: string; readonly to: string; readonly id: string };
  /** Stops the pod of a member that a user fenced; nothing starts it until it is released. */
  readonly fenceMember: { readonly member: string; readonly check: Answering };
  /** Marks the volume of a member that a recovery has given up, and stops its pod. */
  readonly giveUpMember: { readonly member: string; readonly token: string };
  /** Starts the survivor of a lost quorum as the only member of its cluster, when all others have stopped. */
  readonly startAlone: { readonly member: string; readonly token: string; readonly gone: readonly string[] };
  /** Creates or repairs the PodDisruptionBudget. */
  readonly applyBudget: Record<never, never>;
  /** Stops a member whose volume stays; it comes back on it with the present settings. */
  readonly restartMember: { readonly member: string; readonly check: Answering };
  /** Asks for a larger volume. */
  readonly growVolume: { readonly member: string; readonly storage: string };
  /** Makes etcd forget its history up to a revision. */
  readonly compact: { readonly revision: number };
  readonly defragment: { readonly member: string; readonly check: Answering };
  /** Ends the alarm NOSPACE. */
  readonly disarm: Record<never, never>;
  /** Stops all members, whose volumes stay, for a restore. */
  readonly stopMembers: Record<never, never>;
  /** Sets the volumes in use aside, and takes the prepared one into use. */
  readonly exchangeVolumes: { readonly id: string };
  /** Takes the volumes that were set aside into use again. */
  readonly returnVolumes: Record<never, never>;
  readonly deleteRestoredVolumes: Record<never, never>;
  readonly deleteVolumesBefore: Record<never, never>;
  readonly upgradeMember: { readonly member: string; readonly version: string; readonly check: Answering };
}

export type EtcdStep = Step<Actions>;

/**
 * How long a member may be silent while its pod runs before it is replaced; restarts and elections are far
 * shorter.
 */
const silenceMsMax = 60_000;
export const lookAgainMs = 2_000;
/** An election takes one to two seconds with etcd's defaults. */
export const electionMs = 500;
/** How often the operator checks the health of a cluster at rest: no watch shows a hung process. */
export const recheckMs = 10_000;

export function isSilentTooLong({ silentForMs = 0 }: SeenMember): boolean {
  return silentForMs > silenceMsMax;
}

export function act<Name extends keyof Actions>(action: Name, args: Actions[Name], reason: string): EtcdStep {
  return actOn<Actions, Name>(action, args, reason);
}

/** Nothing to do; what was refused is no desired state. */
export function restUnlessRefused(refusals: readonly FieldRefusal[]): EtcdStep {
  if (refusals.length === 0) return rest(recheckMs);
  return rest(recheckMs, { reason: "FieldsRefused", message: refusalText(refusals) });
}
