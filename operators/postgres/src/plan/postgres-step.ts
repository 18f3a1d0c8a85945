/** The steps that a plan of a PostgreSQL cluster may take, and how long it waits. */
import type { UpgradeStatus } from "../seen/upgrade.ts";
import { act as actOn, type Step } from "setpoint";

/** How one instance takes over from another. */
export type Handover = "failover" | "switchover";

export interface Actions {
  /** The status, written before, says to poolers that their clients wait for this term. */
  readonly pausePoolers: { readonly next: string };
  /** Issues and renews certificates and their authority, as far as that is due. */
  readonly maintainCertificates: Record<never, never>;
  /** Creates the Secret with the login of the application. */
  readonly createLogin: Record<never, never>;
  /** Creates or repairs these Services. */
  readonly applyServices: { readonly services: readonly string[] };
  /** Creates or repairs the PodDisruptionBudget. */
  readonly applyBudget: Record<never, never>;
  /** Creates the missing claims and pods of these instances. */
  readonly startInstances: { readonly instances: readonly string[] };
  /** Names the instance that may accept writes from now on; the status records it before anything is done. */
  readonly appoint: { readonly primary: string; readonly lostAtMost?: string };
  /** Ends the time of the primary: it stops, and nobody accepts writes until another one is appointed. */
  readonly depose: { readonly primary: string; readonly handover: Handover; readonly candidate?: string };
  /** Says to these instances what they should be. */
  readonly instruct: { readonly instances: readonly string[] };
  /** Sets the labels by which Services find the primary and the replicas. */
  readonly relabel: { readonly instances: readonly string[] };
  /** Removes the request for a switchover that has been followed, or cannot be. */
  readonly forgetRequest: { readonly why: string };
  /** Stops the pod of an instance, which comes back on its volume with the present settings. */
  readonly restartInstance: { readonly instance: string };
  /** Restarts the server that started at this moment, in its pod, for settings that wait for it. */
  readonly restartServer: { readonly instance: string; readonly startedAt: string };
  /** All instances have stopped; the status, written before, says it. */
  readonly hibernated: Record<never, never>;
  /** The primary accepts writes again, and the other instances may start. */
  readonly awake: Record<never, never>;
  /** Stops the pods of these instances, for a restore or to hibernate; their volumes stay. */
  readonly stopInstances: { readonly instances: readonly string[] };
  /** From now on the cluster runs on the data of a restore, which its first instance has. */
  readonly startRestored: { readonly restoreId: string; readonly primary: string };
  /** From now on the cluster runs on the data from before a restore. */
  readonly goBack: { readonly restoreId: string };
  /** Writes down how far a change of the major version is; undefined: there is none any more. */
  readonly advanceUpgrade: { readonly upgrade: UpgradeStatus | undefined };
  /** From now on the cluster runs on the data of another major version, which this instance has. */
  readonly startOnVersion: {
    readonly upgrade: UpgradeStatus;
    readonly version: "15" | "17";
    readonly image: string | undefined;
    readonly systemId: string;
  };
  readonly deleteClaims: { readonly claims: readonly string[] };
  readonly growVolume: { readonly instance: string; readonly size: string };
  /** Deletes the pod and the volume of an instance that the spec does not ask for any more. */
  readonly removeInstance: { readonly instance: string };
}

export type PostgresStep = Step<Actions>;

/** How often the operator asks the instances of a cluster at rest: no watch shows a hung process. */
export const recheckMs = 1_000;
/** While instances do what the document says. */
export const lookAgainMs = 200;
/** How long a request of this operator may be under way: a grant may arrive so late. */
export const callMsMax = 2_000;

export function act<Name extends keyof Actions>(action: Name, args: Actions[Name], reason: string): PostgresStep {
  return actOn<Actions, Name>(action, args, reason);
}
