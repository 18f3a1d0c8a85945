/**
 * Which Secrets may be sent to an instance that no operator runs. A user who names a Secret and the endpoints
 * may have no right to read the Secret. So a user who may change the Secret allows it, with a label.
 */
import type { ReconcileContext } from "setpoint";
import { Secret } from "setpoint/kinds";
import { dataLabels } from "../kinds/labels.ts";

/** Why a Secret is not sent. */
export interface ExternalSecretProblem {
  readonly reason: "SecretNotFound" | "SecretNotLabelled";
  readonly message: string;
}

/** Certificates are public: a Secret that has nothing else needs no label. */
const publicKeys: ReadonlySet<string> = new Set(["ca.crt", "tls.crt"]);

/**
 * Why one of these Secrets is not sent; undefined when all may be. It reads them from the server, just before
 * a pod gets them. Nothing is watched, so call it again while it returns a problem.
 */
export async function externalSecretProblem(
  names: readonly string[],
  namespace: string,
  { fresh }: ReconcileContext,
): Promise<ExternalSecretProblem | undefined> {
  for (const name of names) {
    const problem = problemOf({ name, namespace }, await fresh(Secret, name, namespace));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** A Secret that does not exist may be created without the label, after a pod that waits for it. */
function problemOf(
  { name, namespace }: { readonly name: string; readonly namespace: string },
  secret: Secret | undefined,
): ExternalSecretProblem | undefined {
  if (secret === undefined) return { reason: "SecretNotFound", message: `Secret "${name}" does not exist` };
  const isPublic = Object.keys(secret.data ?? {}).every((key) => publicKeys.has(key));
  if (isPublic || secret.metadata.labels?.[dataLabels.externalLogin] === "true") return undefined;
  const label = `${dataLabels.externalLogin}=true`;
  const command = `kubectl label secret ${name} --namespace=${namespace} ${label}`;
  return {
    reason: "SecretNotLabelled",
    message: `Secret "${name}" is not sent to an external instance, because it has no label ${label}; to allow it, run: ${command}`,
  };
}
