import type { CertificateRequest } from "@setpoint/host/certificates";
import { expect, test } from "vitest";
import { requestProblem, signerTerms } from "./signer-rules.ts";

const client = "kubernetes.io/kube-apiserver-client";
const kubelet = "kubernetes.io/kube-apiserver-client-kubelet";
const serving = "kubernetes.io/kubelet-serving";
const forClients = ["client auth", "digital signature"];
const forServers = ["server auth", "digital signature"];
const node = { commonName: "system:node:n1", organizations: ["system:nodes"] };
const named = { ...node, dnsNames: ["n1"] };

const request = (fields: object): CertificateRequest =>
  ({ commonName: "ann", organizations: [], dnsNames: [], ipAddresses: [], otherNames: [], ...fields }) as never;

test.each([
  ["a person", client, {}, forClients, undefined],
  [
    "a person of the masters",
    client,
    { organizations: ["system:masters"] },
    forClients,
    "the group system:masters is not issued",
  ],
  ["nobody", client, { commonName: "" }, forClients, "subject common name is required"],
  [
    "a person with an address of mail",
    client,
    { otherNames: ["a@b"] },
    forClients,
    "email or URI subjectAltNames are not supported",
  ],
  ["a person who serves", client, {}, forServers, "invalid usages"],
  ["a node", kubelet, node, forClients, undefined],
  ["a node with a name of a server", kubelet, named, forClients, "DNS and IP subjectAltNames are not allowed"],
  [
    "a person as a node",
    kubelet,
    { organizations: ["system:nodes"] },
    forClients,
    "subject common name does not begin with system:node:",
  ],
  [
    "a node of no group",
    kubelet,
    { commonName: "system:node:n1" },
    forClients,
    "subject organization is not system:nodes",
  ],
  ["a node that serves", serving, named, forServers, undefined],
  ["a node that serves under no name", serving, node, forServers, "DNS or IP subjectAltName is required"],
  [
    "a node with other names",
    serving,
    { ...named, otherNames: ["a@b"] },
    forServers,
    "email or URI subjectAltNames are not allowed",
  ],
  ["a stranger's signer", "example.com/own", {}, forClients, "unrecognized signer"],
])("the certificate of %s", (_claim, signer, fields, usages, problem) => {
  expect(requestProblem(signer, request(fields), usages)).toBe(problem);
});

test("a certificate is for what was asked, and a stranger's signer issues none", () => {
  const terms = { forClients: true, forServers: false, forEncipherment: false };
  expect(signerTerms(client, forClients)).toEqual(terms);
  expect(signerTerms("example.com/own", forClients)).toBeUndefined();
});
