/** Issues the certificates of approved CertificateSigningRequests for the built-in signers. */
import { CertificateSigningRequest } from "@setpoint/api/certificates-v1";
import { timestamp } from "@setpoint/host";
import { type CertificateAuthority, parseCertificateRequest } from "@setpoint/host/certificates";
import { controller, type ControllerDefinition, type ReconcileContext } from "@setpoint/runtime";
import { requestProblem, signerTerms } from "./signer-rules.ts";

/** As `--cluster-signing-duration` of upstream: a year. */
const validityMsMax = 365 * 86_400_000;

/** The certificate authority that signs. */
export interface CertificateSignerOptions {
  readonly authority: Pick<CertificateAuthority, "signRequest">;
}

/**
 * Issues the certificates of approved CertificateSigningRequests, for the signers of kube-controller-manager.
 */
export function certificateSigner({ authority }: CertificateSignerOptions): ControllerDefinition {
  return controller(CertificateSigningRequest, {
    name: "csrsigning",
    // Approval is status.
    predicate: () => true,
    async reconcile(request, context) {
      const { spec, status = {} } = request;
      const has = (type: string): boolean => (status.conditions ?? []).some((each) => each.type === type);
      if (!has("Approved") || has("Denied") || has("Failed") || status.certificate !== undefined) return;
      const usages = spec.usages ?? [];
      const terms = signerTerms(spec.signerName, usages);
      if (terms === undefined) return;
      const asked = parseCertificateRequest(Buffer.from(spec.request, "base64").toString("latin1"));
      const problem = requestProblem(spec.signerName, asked, usages);
      if (problem !== undefined) return fail(request, problem, context);
      const askedMs = spec.expirationSeconds === undefined ? validityMsMax : spec.expirationSeconds * 1_000;
      const pem = authority.signRequest(asked, { ...terms, validityMs: Math.min(askedMs, validityMsMax) });
      await writeStatus(request, { certificate: Buffer.from(pem).toString("base64") }, context);
    },
  });
}

async function fail(request: CertificateSigningRequest, message: string, context: ReconcileContext): Promise<void> {
  const now = timestamp(context.host.clock);
  const failed = { type: "Failed", status: "True", reason: "SignerValidationFailure", message };
  const conditions = [
    ...(request.status?.conditions ?? []),
    { ...failed, lastUpdateTime: now, lastTransitionTime: now },
  ];
  await writeStatus(request, { conditions }, context);
}

async function writeStatus(
  request: CertificateSigningRequest,
  status: object,
  context: ReconcileContext,
): Promise<void> {
  const { name, resourceVersion } = request.metadata;
  // Only if it is still what was looked at: it may have been deleted and made again under its name.
  const patch = { metadata: { resourceVersion }, status };
  await context.client.patch(CertificateSigningRequest, { name: name ?? "" }, patch, { subresource: "status" });
}
