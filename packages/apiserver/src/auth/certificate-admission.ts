/**
 * CertificateApproval, CertificateSigning, CertificateSubjectRestriction: who may approve and sign
 * certificates.
 */
import { parseCertificateRequest } from "@setpoint/host/certificates";
import type { UnstructuredObject, UserInfo } from "@setpoint/apimachinery";
import type { AdmissionPlugin, AdmissionRequest } from "../registry/admission-plugin.ts";
import { forbiddenByAdmission } from "../admission/namespace-lifecycle.ts";
import { objectsAt, sameJson, stringAt, valueAt } from "../registry/json-fields.ts";
import type { Authorizer } from "../request/request-attributes.ts";
import { nodeIdentity } from "./node-identity.ts";
import { mastersGroup } from "./rbac-authorizer.ts";

const group = "certificates.k8s.io";
const clientSigner = "kubernetes.io/kube-apiserver-client";
/** Signers whose certificates make their bearer a node, or a node's server. */
const nodeSigners: ReadonlySet<string> = new Set([
  "kubernetes.io/kube-apiserver-client-kubelet",
  "kubernetes.io/kubelet-serving",
]);

/**
 * Checks requests, approvals and signatures of CertificateSigningRequests, as upstream's three plugins do.
 * The authorizer decides on the verbs `approve` and `sign` of the signer; errors are 403s with upstream's
 * messages.
 */
export function createCertificateAdmission(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: "CertificateApproval",
    async validate(request) {
      const { definition, operation, object, old } = request;
      if (definition.group !== group || definition.resource !== "certificatesigningrequests") return;
      if (operation === "CREATE" && object !== undefined) restrictSubject(request, object);
      if (operation === "UPDATE" && object !== undefined && old !== undefined)
        checkDecision(authorizer, request, object, old);
    },
  };
}

/** A certificate for this group could never be taken back. */
function restrictSubject(request: AdmissionRequest, object: UnstructuredObject): void {
  const signer = stringAt(object, "spec", "signerName");
  const node = nodeIdentity(request.user);
  if (signer !== clientSigner && (node === undefined || !nodeSigners.has(signer))) return;
  const asked = parseCertificateRequest(Buffer.from(stringAt(object, "spec", "request"), "base64").toString("latin1"));
  if (signer === clientSigner && asked.organizations.includes(mastersGroup))
    throw forbiddenByAdmission(request, `use of ${clientSigner} signer with ${mastersGroup} group is not allowed`);
  if (node !== undefined && nodeSigners.has(signer) && asked.commonName !== request.user.username) {
    const quoted = JSON.stringify(asked.commonName);
    throw forbiddenByAdmission(
      request,
      `can only create a node CSR with CN=${request.user.username}, got CN=${quoted}`,
    );
  }
}

function checkDecision(
  authorizer: Authorizer,
  request: AdmissionRequest,
  object: UnstructuredObject,
  old: UnstructuredObject,
): void {
  const signer = stringAt(old, "spec", "signerName");
  if (request.subresource === "approval" && !maySign(authorizer, request.user, "approve", signer))
    throw forbiddenByAdmission(
      request,
      `user not permitted to approve requests with signerName ${JSON.stringify(signer)}`,
    );
  if (request.subresource !== "status" || !isIssued(object, old)) return;
  if (!maySign(authorizer, request.user, "sign", signer))
    throw forbiddenByAdmission(
      request,
      `user not permitted to sign requests with signerName ${JSON.stringify(signer)}`,
    );
}

function isIssued(object: UnstructuredObject, old: UnstructuredObject): boolean {
  const seen = (each: UnstructuredObject): readonly unknown[] => [
    valueAt(each, "status", "certificate"),
    objectsAt(each, "status", "conditions").filter(({ type }) => type === "Failed"),
  ];
  return !sameJson(seen(object), seen(old));
}

/** For the signer by its name, or for all signers of its domain. */
function maySign(authorizer: Authorizer, user: UserInfo, verb: string, signer: string): boolean {
  const domain = signer.slice(0, signer.indexOf("/"));
  return [signer, `${domain}/*`].some((name) => {
    const target = { group, version: "*", resource: "signers", subresource: "", namespace: "", name };
    return authorizer.authorize({ user, verb, isResourceRequest: true, path: "", ...target }).allowed;
  });
}
