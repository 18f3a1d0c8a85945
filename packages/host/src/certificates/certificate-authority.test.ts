import { X509Certificate } from "node:crypto";
import { systemClock, systemRandom } from "@setpoint/host/system";
import { expect, test } from "vitest";
import { CertificateAuthority, createCertificateAuthority } from "./certificate-authority.ts";

const host = { clock: systemClock, random: systemRandom };

test("a client certificate carries the user as CN and each group as O, signed by the authority", () => {
  const authority = createCertificateAuthority(host);
  const { certificate } = authority.issueClient({ commonName: "admin", organizations: ["system:masters", "ops"] });
  const parsed = new X509Certificate(certificate);
  expect(parsed.subject).toBe("O=system:masters\nO=ops\nCN=admin");
  expect(parsed.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true);
  expect(parsed.checkIssued(new X509Certificate(authority.certificate))).toBe(true);
});

test("a server certificate names all hosts, IPv6 too", () => {
  const { certificate } = createCertificateAuthority(host).issueServer({
    commonName: "kube-apiserver",
    hosts: ["localhost", "kubernetes.default.svc", "127.0.0.1", "::1"],
  });
  expect(new X509Certificate(certificate).subjectAltName).toBe(
    "DNS:localhost, DNS:kubernetes.default.svc, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1",
  );
});

test("an authority loaded from its PEM files goes on signing", () => {
  const first = createCertificateAuthority(host);
  const second = new CertificateAuthority({ certificate: first.certificate, key: first.key }, host);
  const issued = new X509Certificate(second.issueClient({ commonName: "bob" }).certificate);
  expect(issued.checkIssued(new X509Certificate(first.certificate))).toBe(true);
});

test("a key of another authority is refused", () => {
  const first = createCertificateAuthority(host);
  const other = createCertificateAuthority(host);
  expect(() => new CertificateAuthority({ certificate: first.certificate, key: other.key }, host)).toThrow(
    "the key belongs to another certificate",
  );
});
