import fc from "fast-check";
import { expect, test } from "vitest";
import { CertificateError } from "./certificate-error.ts";
import { parseCertificateRequest } from "./certificate-request.ts";

/** CN=bob, O=dev, O=qa, with an ECDSA key that nobody has. */
const pem = `-----BEGIN CERTIFICATE REQUEST-----
MIHkMIGLAgEAMCkxDDAKBgNVBAoMA2RldjELMAkGA1UECgwCcWExDDAKBgNVBAMM
A2JvYjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPJuknOwwmDK2bKXg07/Nnvu
3EwXzfVEEt0ZxqheyOmY4hMpjeSQLKK2YOHmu2smnH2HcdjV2BrTNxbe8vF1wyeg
ADAKBggqhkjOPQQDAgNIADBFAiEArH860/OFeTynJYSjw/8CoV2ICGlRQTHm80rw
5QleaesCIDJEJmFY2Gi4vKARN1QbMuFAGJFR0SAYAHbqe/gmPDmi
-----END CERTIFICATE REQUEST-----
`;
const bytes = Buffer.from(pem.split("\n").slice(1, -2).join(""), "base64");

function asPem(content: Uint8Array): string {
  return `-----BEGIN CERTIFICATE REQUEST-----\n${Buffer.from(content).toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`;
}

test("a request says who is asked for, and that its sender has the key", () => {
  const { commonName, organizations, dnsNames, publicKey } = parseCertificateRequest(pem);
  expect({ commonName, organizations, dnsNames }).toEqual({
    commonName: "bob",
    organizations: ["dev", "qa"],
    dnsNames: [],
  });
  expect(publicKey.asymmetricKeyType).toBe("ec");
});

test("a request of which a byte is changed is refused, wherever the byte is", () => {
  for (let at = 0; at < bytes.length; at++) {
    const changed = Uint8Array.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 0x01;
    expect(() => parseCertificateRequest(asPem(changed)), `byte ${at}`).toThrow(CertificateError);
  }
});

test("garbage of any kind is refused at once", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(bytes.length), (garbage, at) => {
      const inserted = Buffer.concat([bytes.subarray(0, at), garbage]);
      for (const content of [garbage, inserted])
        if (!inserted.equals(bytes)) expect(() => parseCertificateRequest(asPem(content))).toThrow(CertificateError);
      expect(() => parseCertificateRequest(Buffer.from(garbage).toString("latin1"))).toThrow(CertificateError);
    }),
    { seed: 7, numRuns: 500 },
  );
  expect(() => parseCertificateRequest("-----BEGIN CERTIFICATE REQUEST-----\n".repeat(1_000_000))).toThrow(
    "longer than",
  );
});
