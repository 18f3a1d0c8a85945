/** What the built-in signers of Kubernetes ask of a request. */
import { lookupTable } from "@setpoint/apimachinery";
import type { CertificateRequest, SigningTerms } from "@setpoint/host/certificates";

const nodesGroup = "system:nodes";
const nodePrefix = "system:node:";
const client = ["client auth", "digital signature", "key encipherment"];
const server = ["digital signature", "key encipherment", "server auth"];

interface SignerRules {
  /** All usages that it issues. */
  readonly usages: readonly string[];
  /** The usage without which the certificate would be of no use. */
  readonly needs: string;
  readonly isForNode: boolean;
}

const signers: Readonly<Record<string, SignerRules>> = lookupTable({
  "kubernetes.io/kube-apiserver-client": { usages: client, needs: "client auth", isForNode: false },
  "kubernetes.io/kube-apiserver-client-kubelet": { usages: client, needs: "client auth", isForNode: true },
  "kubernetes.io/kubelet-serving": { usages: server, needs: "server auth", isForNode: true },
});

/** Undefined for a signer that is not built in. */
export function signerTerms(signer: string, usages: readonly string[]): Omit<SigningTerms, "validityMs"> | undefined {
  if (signers[signer] === undefined) return undefined;
  return {
    forClients: usages.includes("client auth"),
    forServers: usages.includes("server auth"),
    forEncipherment: usages.includes("key encipherment"),
  };
}

/** Why the signer does not issue this certificate, in upstream's words; undefined when it does. */
export function requestProblem(
  signer: string,
  request: CertificateRequest,
  usages: readonly string[],
): string | undefined {
  const rules = signers[signer];
  if (rules === undefined) return "unrecognized signer";
  if (!usages.includes(rules.needs) || !usages.every((each) => rules.usages.includes(each)))
    return rules.isForNode ? `usages did not match [${rules.usages.join(" ")}]` : "invalid usages";
  if (rules.isForNode) return nodeProblem(request, rules.needs === "server auth");
  if (request.organizations.includes("system:masters")) return "the group system:masters is not issued";
  return namesProblem(request);
}

function nodeProblem(request: CertificateRequest, isServer: boolean): string | undefined {
  const { commonName, organizations, dnsNames, ipAddresses, otherNames } = request;
  if (organizations.length !== 1 || organizations[0] !== nodesGroup) return "subject organization is not system:nodes";
  if (!commonName.startsWith(nodePrefix)) return "subject common name does not begin with system:node:";
  if (otherNames.length > 0) return "email or URI subjectAltNames are not allowed";
  const count = dnsNames.length + ipAddresses.length;
  if (isServer) return count === 0 ? "DNS or IP subjectAltName is required" : undefined;
  return count === 0 ? undefined : "DNS and IP subjectAltNames are not allowed";
}

/** Names that this authority's certificates cannot carry would be left out in silence. */
function namesProblem({ otherNames, commonName }: CertificateRequest): string | undefined {
  if (commonName === "") return "subject common name is required";
  return otherNames.length === 0 ? undefined : "email or URI subjectAltNames are not supported";
}
