/**
 * A certificate authority of one's own, for control planes and for webhooks: ECDSA P-256 keys, certificates
 * for servers and for clients.
 */
import type { KeyObject, X509Certificate as Certificate } from "node:crypto";
import { isIP } from "node:net";
import type { Clock } from "../clock.ts";
import type { Random } from "../random.ts";
import { CertificateError } from "./certificate-error.ts";
import type { CertificateRequest } from "./certificate-request.ts";
import * as asn1 from "./der.ts";
import { readChildren, readDer } from "./der-reader.ts";

// Not imported: to read what node:crypto exports is to load the web's cryptography, too.
const { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, X509Certificate } =
  process.getBuiltinModule("node:crypto");

/** A certificate with its private key, both PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** The clock sets the validity of certificates; the randomness makes their keys and serial numbers. */
export interface CertificateAuthorityOptions {
  readonly clock: Pick<Clock, "now">;
  readonly random: Random;
}

/** What the certificate of a TLS server names. Clients accept it for `hosts` only. */
export interface ServerCertificateRequest {
  readonly commonName: string;
  /** DNS names and IP addresses by which clients may call the server. */
  readonly hosts: readonly string[];
  readonly validityDays?: number;
}

/**
 * What a client certificate names. The API server reads the user from the common name and the groups from the
 * organizations.
 */
export interface ClientCertificateRequest {
  /** The user's name. */
  readonly commonName: string;
  /** The user's groups. */
  readonly organizations?: readonly string[];
  readonly validityDays?: number;
}

/** What the certificate for a request may be used for, and for how long. */
export interface SigningTerms {
  readonly forClients: boolean;
  readonly forServers: boolean;
  readonly forEncipherment: boolean;
  readonly validityMs: number;
  /**
   * From how long ago it is valid, for readers whose clocks are behind; five minutes when absent, as
   * upstream's signers.
   */
  readonly backdateMs?: number;
}

const dayMs = 86_400_000;
const requestBackdateMs = 300_000;
/** Certificates are valid from a little in the past, for clients whose clocks are behind. */
const backdateMs = 3_600_000;
const authorityValidityDays = 3650;
const leafValidityDays = 365;

const oid = {
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
  commonName: "2.5.4.3",
  organization: "2.5.4.10",
  subjectKeyId: "2.5.29.14",
  keyUsage: "2.5.29.15",
  subjectAltName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  authorityKeyId: "2.5.29.35",
  extendedKeyUsage: "2.5.29.37",
  serverAuth: "1.3.6.1.5.5.7.3.1",
  clientAuth: "1.3.6.1.5.5.7.3.2",
};

const signatureAlgorithm = asn1.sequence(asn1.objectIdentifier(oid.ecdsaWithSha256));

/** Signs certificates with one key; `certificate` is what clients and servers must trust. */
export class CertificateAuthority {
  readonly certificate: string;
  readonly key: string;
  readonly #options: CertificateAuthorityOptions;
  readonly #name: Uint8Array;
  readonly #private: KeyObject;
  readonly #notAfter: number;
  readonly #keyId: Uint8Array;

  /** From the PEM files that an earlier run wrote. */
  constructor(pair: KeyPair, options: CertificateAuthorityOptions) {
    const parsed = parseAuthority(pair);
    this.certificate = pair.certificate;
    this.key = pair.key;
    this.#options = options;
    this.#private = parsed.key;
    this.#name = parsed.name;
    this.#notAfter = parsed.notAfter;
    this.#keyId = keyIdOf(createPublicKey(parsed.key));
  }

  issueServer(request: ServerCertificateRequest): KeyPair {
    const names = request.hosts.map(alternativeName);
    return this.#issue(distinguishedName(request.commonName, []), request.validityDays ?? leafValidityDays, [
      extension(oid.extendedKeyUsage, asn1.sequence(asn1.objectIdentifier(oid.serverAuth))),
      extension(oid.subjectAltName, asn1.sequence(...names)),
    ]);
  }

  issueClient(request: ClientCertificateRequest): KeyPair {
    const subject = distinguishedName(request.commonName, request.organizations ?? []);
    return this.#issue(subject, request.validityDays ?? leafValidityDays, [
      extension(oid.extendedKeyUsage, asn1.sequence(asn1.objectIdentifier(oid.clientAuth))),
    ]);
  }

  /**
   * A certificate for what a request asks: its common name, organizations, DNS names and addresses, and its
   * key. Whether it may have them is decided before.
   */
  signRequest(request: CertificateRequest, terms: SigningTerms): string {
    const { clock, random } = this.#options;
    const names = [...request.dnsNames, ...request.ipAddresses].map(alternativeName);
    const uses = [
      ...(terms.forClients ? [asn1.objectIdentifier(oid.clientAuth)] : []),
      ...(terms.forServers ? [asn1.objectIdentifier(oid.serverAuth)] : []),
    ];
    return signCertificate(this.#private, {
      notBefore: clock.now() - (terms.backdateMs ?? requestBackdateMs),
      notAfter: Math.min(clock.now() + terms.validityMs, this.#notAfter),
      serial: serialNumber(random),
      issuer: this.#name,
      subject: distinguishedName(request.commonName, request.organizations),
      publicKey: request.publicKey,
      extensions: [
        // digitalSignature, and keyEncipherment for RSA
        terms.forEncipherment ? keyUsage(0xa0, 5) : keyUsage(0x80, 7),
        extension(oid.authorityKeyId, asn1.sequence(asn1.der(0x80, this.#keyId))),
        extension(oid.extendedKeyUsage, asn1.sequence(...uses)),
        ...(names.length === 0 ? [] : [extension(oid.subjectAltName, asn1.sequence(...names))]),
      ],
    });
  }

  #issue(subject: Uint8Array, validityDays: number, extensions: readonly Uint8Array[]): KeyPair {
    const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const authority = asn1.sequence(asn1.der(0x80, this.#keyId));
    const certificate = signCertificate(this.#private, {
      ...validity(this.#options.clock, validityDays),
      serial: serialNumber(this.#options.random),
      issuer: this.#name,
      subject,
      publicKey: pair.publicKey,
      // digitalSignature
      extensions: [keyUsage(0x80, 7), extension(oid.authorityKeyId, authority), ...extensions],
    });
    return { certificate, key: exportKey(pair.privateKey) };
  }
}

/** A new authority with a new key. */
export function createCertificateAuthority(
  options: CertificateAuthorityOptions & { readonly commonName?: string; readonly validityDays?: number },
): CertificateAuthority {
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = distinguishedName(options.commonName ?? "kubernetes", []);
  const constraints = asn1.sequence(asn1.boolean(true));
  const certificate = signCertificate(pair.privateKey, {
    ...validity(options.clock, options.validityDays ?? authorityValidityDays),
    serial: serialNumber(options.random),
    issuer: name,
    subject: name,
    publicKey: pair.publicKey,
    extensions: [
      extension(oid.basicConstraints, constraints, true),
      // digitalSignature, keyCertSign, cRLSign
      keyUsage(0x86, 1),
      extension(oid.subjectKeyId, asn1.octetString(keyIdOf(pair.publicKey))),
    ],
  });
  return new CertificateAuthority({ certificate, key: exportKey(pair.privateKey) }, options);
}

interface CertificateFields {
  readonly notBefore: number;
  readonly notAfter: number;
  readonly serial: Uint8Array;
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Uint8Array[];
}

function signCertificate(key: KeyObject, fields: CertificateFields): string {
  const body = asn1.sequence(
    asn1.der(0xa0, asn1.unsignedInteger(Uint8Array.of(2))),
    asn1.unsignedInteger(fields.serial),
    signatureAlgorithm,
    fields.issuer,
    asn1.sequence(asn1.time(fields.notBefore), asn1.time(fields.notAfter)),
    fields.subject,
    fields.publicKey.export({ type: "spki", format: "der" }),
    asn1.der(0xa3, asn1.sequence(...fields.extensions)),
  );
  const signature = asn1.bitString(sign("sha256", body, key));
  return asn1.pem("CERTIFICATE", asn1.sequence(body, signatureAlgorithm, signature));
}

/** One RDN for each value: a certificate with several organizations is a user with several groups. */
function distinguishedName(commonName: string, organizations: readonly string[]): Uint8Array {
  const attribute = (type: string, value: string): Uint8Array =>
    asn1.setOf(asn1.sequence(asn1.objectIdentifier(type), asn1.utf8String(value)));
  return asn1.sequence(
    ...organizations.map((each) => attribute(oid.organization, each)),
    attribute(oid.commonName, commonName),
  );
}

function extension(id: string, value: Uint8Array, critical = false): Uint8Array {
  const flag = critical ? [asn1.boolean(true)] : [];
  return asn1.sequence(asn1.objectIdentifier(id), ...flag, asn1.octetString(value));
}

function keyUsage(bits: number, unusedBits: number): Uint8Array {
  return extension(oid.keyUsage, asn1.bitString(Uint8Array.of(bits), unusedBits), true);
}

function alternativeName(host: string): Uint8Array {
  const version = isIP(host);
  if (version === 0) return asn1.der(0x82, Buffer.from(host));
  return asn1.der(0x87, version === 4 ? Uint8Array.from(host.split(".").map(Number)) : ipv6Bytes(host));
}

function ipv6Bytes(address: string): Uint8Array {
  const [head = "", tail] = address.split("::");
  const groups = (part: string): string[] => (part === "" ? [] : part.split(":"));
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const middle = Array.from({ length: 8 - left.length - right.length }, () => "0");
  const words = [...left, ...middle, ...right].map((group) => Number.parseInt(group, 16));
  return Uint8Array.from(words.flatMap((word) => [word >> 8, word & 0xff]));
}

function validity(clock: Pick<Clock, "now">, days: number): { readonly notBefore: number; readonly notAfter: number } {
  const now = clock.now();
  return { notBefore: now - backdateMs, notAfter: now + days * dayMs };
}

/** 127 random bits: positive, and never zero. */
function serialNumber(random: Random): Uint8Array {
  const bytes = random.bytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes;
}

function keyIdOf(key: KeyObject): Uint8Array {
  return createHash("sha1")
    .update(key.export({ type: "spki", format: "der" }))
    .digest();
}

function exportKey(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" });
}

interface ParsedAuthority {
  readonly key: KeyObject;
  readonly name: Uint8Array;
  readonly notAfter: number;
}

function parseAuthority(pair: KeyPair): ParsedAuthority {
  const certificate = new X509Certificate(pair.certificate);
  const key = createPrivateKey(pair.key);
  if (!certificate.checkPrivateKey(key)) {
    throw new CertificateError(
      `Cannot load certificate authority "${certificate.subject}": the key belongs to another certificate, expected its own key`,
    );
  }
  return { key, name: subjectOf(certificate), notAfter: Date.parse(certificate.validTo) };
}

/** The subject's DER, cut from the certificate so that issued certificates name their issuer byte by byte. */
function subjectOf(certificate: Certificate): Uint8Array {
  const [body] = readChildren(readDer(certificate.raw));
  const subject = body === undefined ? undefined : readChildren(body)[5];
  if (subject === undefined) throw new CertificateError("Cannot read the certificate's subject");
  return subject.raw;
}
