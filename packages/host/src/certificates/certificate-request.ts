/** Requests for certificates (PKCS #10), as clients of the certificates API send them. */
import type { KeyObject } from "node:crypto";
import { CertificateError } from "./certificate-error.ts";
import { childrenOf, type DerValue, malformed, readChildren, readDer, readObjectIdentifier } from "./der-reader.ts";

const { createPublicKey, verify } = process.getBuiltinModule("node:crypto");

/** What a request asks for; its signature proves that the sender has the key. */
export interface CertificateRequest {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  /** Names of other kinds: e-mail addresses, URIs and the rest. */
  readonly otherNames: readonly string[];
  readonly publicKey: KeyObject;
}

const oid = {
  commonName: "2.5.4.3",
  organization: "2.5.4.10",
  extensions: "1.2.840.113549.1.9.14",
  names: "2.5.29.17",
};
/** Hash by signature algorithm; Ed25519 has its own. */
const hashes: Readonly<Record<string, string | null>> = {
  "1.2.840.10045.4.3.2": "sha256",
  "1.2.840.10045.4.3.3": "sha384",
  "1.2.840.10045.4.3.4": "sha512",
  "1.2.840.113549.1.1.11": "sha256",
  "1.2.840.113549.1.1.12": "sha384",
  "1.2.840.113549.1.1.13": "sha512",
  "1.3.101.112": null,
};
/** A request is a few kilobytes; what is longer costs more to read than it can be worth. */
const requestBytesMax = 64 * 1024;
const sequence = 0x30;
const set = 0x31;

/** Errors: `CertificateError` in upstream's words where clients see them. */
export function parseCertificateRequest(pem: string): CertificateRequest {
  const bytes = pemContent(pem);
  const whole = readDer(bytes);
  if (whole.raw.length !== bytes.length) throw malformed();
  const [info, algorithm, signature] = childrenOf(whole, sequence);
  const [, subject, publicKeyInfo, attributes] = childrenOf(info, sequence);
  if (info === undefined || publicKeyInfo === undefined || signature?.tag !== 0x03 || signature.content[0] !== 0)
    throw malformed();
  const publicKey = readKey(publicKeyInfo.raw);
  if (!isSigned(info.raw, algorithm, signature, publicKey))
    throw new CertificateError("Cannot accept the certificate request: its signature is not that of its key");
  return { ...readSubject(subject), ...readNames(attributes), publicKey };
}

function pemContent(pem: string): Uint8Array {
  if (pem.length > requestBytesMax)
    throw new CertificateError(`Cannot read the certificate request: it is longer than ${requestBytesMax} bytes`);
  const match = /^\s*-----BEGIN ([A-Z ]+)-----\n([A-Za-z0-9+/=\s]+)-----END \1-----\s*$/.exec(
    pem.replaceAll("\r\n", "\n"),
  );
  if (match?.[1] !== "CERTIFICATE REQUEST") throw new CertificateError("PEM block type must be CERTIFICATE REQUEST");
  return Buffer.from(match[2] ?? "", "base64");
}

function readKey(info: Uint8Array): KeyObject {
  try {
    return createPublicKey({ key: Buffer.from(info), format: "der", type: "spki" });
  } catch (cause) {
    throw new CertificateError("Cannot read the certificate request: its public key is of no known kind", { cause });
  }
}

function isSigned(info: Uint8Array, algorithm: DerValue | undefined, signature: DerValue, key: KeyObject): boolean {
  const hash = hashes[readObjectIdentifier(childrenOf(algorithm, sequence)[0])];
  if (hash === undefined)
    throw new CertificateError(
      "Cannot accept the certificate request: it is signed by an algorithm that is not supported",
    );
  try {
    // The first byte of a bit string says how many bits of the last one do not count: none.
    return verify(hash, info, key, signature.content.subarray(1));
  } catch {
    return false;
  }
}

function readSubject(subject: DerValue | undefined): Pick<CertificateRequest, "commonName" | "organizations"> {
  const values = childrenOf(subject, sequence)
    .flatMap((relative) => childrenOf(relative, set))
    .map((attribute) => {
      const [type, value] = childrenOf(attribute, sequence);
      return { type: readObjectIdentifier(type), value };
    });
  const of = (type: string): readonly string[] =>
    values.filter((each) => each.type === type).map((each) => readText(each.value));
  const [commonName = "", ...others] = of(oid.commonName);
  if (others.length > 0)
    throw new CertificateError("Cannot accept the certificate request: it has more than one common name");
  return { commonName, organizations: of(oid.organization) };
}

/** UTF8String, PrintableString and IA5String; in others two programs may read different names. */
const textTags: ReadonlySet<number> = new Set([0x0c, 0x13, 0x16]);

function readText(value: DerValue | undefined): string {
  if (value === undefined || !textTags.has(value.tag)) throw malformed();
  const text = Buffer.from(value.content).toString("utf8");
  // A name that ends early for programs in C, or is shown otherwise than it is, is nobody's.
  if (/[\p{Cc}\ufffd]/u.test(text)) throw malformed();
  return text;
}

type Names = Pick<CertificateRequest, "dnsNames" | "ipAddresses" | "otherNames">;

function readNames(attributes: DerValue | undefined): Names {
  const names: Record<keyof Names, string[]> = { dnsNames: [], ipAddresses: [], otherNames: [] };
  if (attributes?.tag !== 0xa0) return names;
  for (const attribute of readChildren(attributes)) {
    const [type, values] = childrenOf(attribute, sequence);
    if (readObjectIdentifier(type) !== oid.extensions) continue;
    for (const extensions of childrenOf(values, set))
      for (const each of childrenOf(extensions, sequence)) addNames(names, each);
  }
  return names;
}

function addNames(names: Record<keyof Names, string[]>, extension: DerValue): void {
  const [type, ...rest] = childrenOf(extension, sequence);
  if (readObjectIdentifier(type) !== oid.names) return;
  const value = rest.at(-1);
  if (value?.tag !== 0x04) throw malformed();
  for (const name of childrenOf(readDer(value.content), sequence)) {
    if (name.tag === 0x82) names.dnsNames.push(readText({ ...name, tag: 0x16 }));
    else if (name.tag === 0x87) names.ipAddresses.push(readAddress(name.content));
    else names.otherNames.push(Buffer.from(name.content).toString("latin1"));
  }
}

function readAddress(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join(".");
  if (bytes.length !== 16) throw malformed();
  const words = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i] ?? 0) * 256 + (bytes[2 * i + 1] ?? 0)).toString(16));
  return words.join(":");
}
