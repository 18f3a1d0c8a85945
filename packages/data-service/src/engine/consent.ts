/**
 * Which Secrets and claims a field may name. A user who may create a kind of ours may have no right to read
 * the Secret, or to mount the claim, that a field of it names; the operator uses both with its own rights. So
 * a user who may change the named object allows each kind of use, with a label on that object.
 */
import type { KubeObject, ReconcileContext } from "setpoint";
import { type PersistentVolumeClaim, Secret } from "setpoint/kinds";
import { dataLabels } from "../kinds/labels.ts";

/** Why a named object is not used. */
export interface ConsentProblem {
  readonly reason: "SecretNotFound" | "SecretNotLabelled" | "ClaimNotFound" | "ClaimNotLabelled";
  readonly message: string;
}

/** One way to use a named object. */
interface Use {
  readonly label: string;
  /** What does not happen without the label. */
  readonly refused: string;
}

/** The uses that need consent. */
export const uses = {
  externalLogin: { label: dataLabels.externalLogin, refused: "is not sent to an external instance" },
  certificateAuthority: { label: dataLabels.certificateAuthority, refused: "signs no certificates" },
  backupStore: { label: dataLabels.backupStore, refused: "is not used by a BackupStore" },
  otherNamespaces: {
    label: dataLabels.otherNamespaces,
    refused: "gives no data that are stored for another namespace",
  },
  workloadBinding: { label: dataLabels.workloadBinding, refused: "is not projected into workloads" },
} as const satisfies Readonly<Record<string, Use>>;

export type UseName = keyof typeof uses;

interface Place {
  readonly name: string;
  readonly namespace: string;
}

/** Why a Secret that was read may not be used; undefined when it may. */
export function secretProblem(use: UseName, place: Place, secret: Secret | undefined): ConsentProblem | undefined {
  return problemOf(use, "Secret", place, secret);
}

/** The same for a claim. */
export function claimProblem(
  use: UseName,
  place: Place,
  claim: PersistentVolumeClaim | undefined,
): ConsentProblem | undefined {
  return problemOf(use, "PersistentVolumeClaim", place, claim);
}

function problemOf(
  use: UseName,
  kind: "Secret" | "PersistentVolumeClaim",
  { name, namespace }: Place,
  object: KubeObject | undefined,
): ConsentProblem | undefined {
  const word = kind === "Secret" ? "Secret" : "Claim";
  // Where no object is yet, one without the label may appear, after a pod that waits for it.
  if (object === undefined) return { reason: `${word}NotFound`, message: `${kind} "${name}" does not exist` };
  if (object.metadata.labels?.[uses[use].label] === "true") return undefined;
  const label = `${uses[use].label}=true`;
  const command = `kubectl label ${kind.toLowerCase()} ${name} --namespace=${namespace} ${label}`;
  return {
    reason: `${word}NotLabelled`,
    message: `${kind} "${name}" ${uses[use].refused}, because it has no label ${label}; to allow it, run: ${command}`,
  };
}

/** Certificates are public: a Secret that has nothing else needs no label. */
const publicKeys: ReadonlySet<string> = new Set(["ca.crt", "tls.crt"]);

/**
 * Why one of these Secrets is not sent to an instance that no operator runs; undefined when all may be. It
 * reads them from the server, just before a pod gets them. Nothing is watched, so call it again while it
 * returns a problem.
 */
export async function externalSecretProblem(
  names: readonly string[],
  namespace: string,
  { fresh }: Pick<ReconcileContext, "fresh">,
): Promise<ConsentProblem | undefined> {
  for (const name of names) {
    const secret = await fresh(Secret, name, namespace);
    const isPublic = secret !== undefined && Object.keys(secret.data ?? {}).every((key) => publicKeys.has(key));
    const problem = isPublic ? undefined : secretProblem("externalLogin", { name, namespace }, secret);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
