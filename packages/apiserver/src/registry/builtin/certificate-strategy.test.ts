/** Conditions of CertificateSigningRequests, each as a kube-apiserver answered it. */
import { expect, test } from "vitest";
import { asking, startServer } from "../../assembly/server.fixture.ts";

interface Answer {
  readonly metadata: { readonly annotations?: object };
  readonly status: { readonly conditions?: readonly { readonly type: string }[]; readonly certificate?: string };
}

const path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const pem = [
  "-----BEGIN CERTIFICATE REQUEST-----",
  "MIHIMHACAQAwDjEMMAoGA1UEAwwDYW5uMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcD",
  "QgAEUV72xdn7mmMFxPdimnAtLgyoQbC1E/ZEAExHY7pmO5CE81FKerx8FQVuHEkV",
  "o01qO1B0XwZmgeNn5EX1A3OHy6AAMAoGCCqGSM49BAMCA0gAMEUCICfiJrr4nbbL",
  "SICbobHGZy6npDrt+8XRrDM5H/tvWpCIAiEAhACytcQhCRAY3l1sUJI2KDUQ9uDm",
  "RwP2Bh9a8AigF7g=",
  "-----END CERTIFICATE REQUEST-----",
];
const request = Buffer.from(`${pem.join("\n")}\n`).toString("base64");

test("an approver writes conditions of any type, and no certificate; a signer leaves decisions", async () => {
  const { server } = startServer({});
  const ask = asking<Answer>(server, { username: "admin", groups: ["system:masters"] });
  const spec = { request, signerName: "example.com/x", usages: ["client auth"] };
  const csr = {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name: "a" },
    spec,
  };
  expect((await ask("POST", path, csr)).code).toBe(201);
  const condition = (type: string): object => ({ type, status: "True", reason: "Test" });
  const patch = async (subresource: string, status: object) =>
    (await ask("PATCH", `${path}/a/${subresource}`, { metadata: { annotations: { a: "b" } }, status })).body;
  const types = ({ status }: Answer) => status.conditions?.map(({ type }) => type);
  const other = await patch("approval", { conditions: [condition("Other")], certificate: "eA==" });
  expect([types(other), other.status.certificate, other.metadata.annotations]).toEqual([
    ["Other"],
    undefined,
    { a: "b" },
  ]);
  expect(types(await patch("status", { conditions: [condition("Signing")] }))).toEqual(["Signing"]);
  expect(types(await patch("approval", { conditions: [condition("Approved")] }))).toEqual(["Approved"]);
  expect(types(await patch("status", { conditions: [condition("Signing")] }))).toEqual(["Approved", "Signing"]);
});
