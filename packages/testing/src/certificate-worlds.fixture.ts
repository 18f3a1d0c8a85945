/** What is explored of the signer of CertificateSigningRequests. Only tests import this. */
import { CertificateSigningRequest } from "@setpoint/api/certificates-v1";
import { isNotFound, type UnstructuredObject } from "@setpoint/apimachinery";
import type { CertificateAuthority } from "@setpoint/host/certificates";
import { happens, type Oracle, remove, run, story, type StoryInit, unsettled, type World } from "./index.ts";

/**
 * Signs as the cluster's authority does, but without a key, because a signature is random: no certificate
 * equals another one, and each says what it is for.
 */
export function simulatedAuthority(): Pick<CertificateAuthority, "signRequest"> {
  let serial = 0;
  return {
    signRequest({ commonName, organizations }, terms) {
      serial++;
      return JSON.stringify({ serial, commonName, organizations, terms });
    },
  };
}

/** CN=bob, O=dev, O=qa, with an ECDSA key that nobody has. */
const bob = `-----BEGIN CERTIFICATE REQUEST-----
MIHkMIGLAgEAMCkxDDAKBgNVBAoMA2RldjELMAkGA1UECgwCcWExDDAKBgNVBAMM
A2JvYjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPJuknOwwmDK2bKXg07/Nnvu
3EwXzfVEEt0ZxqheyOmY4hMpjeSQLKK2YOHmu2smnH2HcdjV2BrTNxbe8vF1wyeg
ADAKBggqhkjOPQQDAgNIADBFAiEArH860/OFeTynJYSjw/8CoV2ICGlRQTHm80rw
5QleaesCIDJEJmFY2Gi4vKARN1QbMuFAGJFR0SAYAHbqe/gmPDmi
-----END CERTIFICATE REQUEST-----
`;

const forClients = { signerName: "kubernetes.io/kube-apiserver-client", usages: ["client auth" as const] };
const forKubelets = { signerName: "kubernetes.io/kubelet-serving", usages: ["server auth" as const] };

const request = (name: string, spec: typeof forClients | typeof forKubelets): CertificateSigningRequest =>
  CertificateSigningRequest({ name, spec: { ...spec, request: Buffer.from(bob).toString("base64") } });

export const certificateWorlds: readonly StoryInit[] = [
  story(
    "a certificate is issued when its request is approved",
    request("bob", forClients),
    unsettled(happens("approve the request", (world) => decide(world, "bob", "Approved"))),
    run(500),
    // The client asks again under the same name, while a lost answer of the signer may still be on its way.
    unsettled(remove(CertificateSigningRequest, { name: "bob" })),
    request("bob", forClients),
    happens("approve the request for the new certificate", (world) => decide(world, "bob", "Approved")),
  ),
  story(
    "no certificate is issued for a request that is denied, or is not for its signer",
    request("denied", forClients),
    happens("deny the request", (world) => decide(world, "denied", "Denied")),
    request("person", forKubelets),
    happens("approve the request of a person who asks as a kubelet", (world) => decide(world, "person", "Approved")),
    remove(CertificateSigningRequest, { name: "person" }),
  ),
];

/** As `kubectl certificate approve`; a fault may delete the request before. */
async function decide(world: World, name: string, type: "Approved" | "Denied"): Promise<void> {
  const conditions = [{ type, status: "True", reason: "Reviewed", message: "" }];
  const options = { subresource: "approval" };
  const patched = world.client.patch(CertificateSigningRequest, { name }, { status: { conditions } }, options);
  await world.wait(patched).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

/** Each moment for what nobody approved, and the end for what has no certificate. */
export const certificatesAreIssued: Oracle = {
  name: "certificates are issued for what was approved",
  judge: (view) => ({
    changed: ({ kind, next }) =>
      kind.plural === CertificateSigningRequest.plural && next !== undefined ? unapproved(asRequest(next)) : undefined,
    ended: () =>
      view
        .list(CertificateSigningRequest)
        .filter((each) => isDue(each) && certifiedName(each) !== "bob")
        .map(
          ({ metadata: { name }, status }) =>
            `${name} is approved and has no certificate for bob: ${status?.certificate}`,
        )[0],
  }),
};

function asRequest(object: UnstructuredObject): CertificateSigningRequest {
  return object as UnstructuredObject & CertificateSigningRequest;
}

function isDue({ status: { conditions = [] } = {} }: CertificateSigningRequest): boolean {
  const has = (wanted: string): boolean => conditions.some(({ type }) => type === wanted);
  return has("Approved") && !has("Failed");
}

function unapproved(request: CertificateSigningRequest): string | undefined {
  return certifiedName(request) === undefined || isDue(request)
    ? undefined
    : `${request.metadata.name} has a certificate that nobody approved`;
}

function certifiedName({ status }: CertificateSigningRequest): string | undefined {
  if (status?.certificate === undefined) return undefined;
  const signed = JSON.parse(Buffer.from(status.certificate, "base64").toString()) as { readonly commonName: string };
  return signed.commonName;
}
