/**
 * Certificates as Secrets: one for the authority, which only the operator reads, and one a role, which pods
 * mount.
 */
import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "setpoint";
import { Secret } from "setpoint/kinds";
import type { CertificateIssuer, KeyPair } from "./certificate-issuer.ts";
import { type AuthorityState, bundleOf, type LeafState } from "./certificate-state.ts";

/** Where the certificates of one instance are kept. */
export interface CertificatePlace {
  readonly namespace: string;
  readonly owner: NonNullable<KubeObject["metadata"]["ownerReferences"]>[number];
  readonly labels: Readonly<Record<string, string>>;
  readonly authoritySecret: string;
  /**
   * A Secret with `tls.crt`, `tls.key` and maybe `ca.crt` that a user made; it signs instead of an authority
   * of ours.
   */
  readonly givenAuthority?: string | undefined;
  secretOf(role: string): string;
}

const annotations = {
  since: "tls.setpoint.dev/signs-since",
  rotation: "tls.setpoint.dev/rotation",
  issued: "tls.setpoint.dev/issued",
  bundleChanged: "tls.setpoint.dev/bundle-changed",
};

type Data = Readonly<Record<string, string | undefined>>;

/** The text of one file of a Secret; undefined when it has none. */
export function textOf({ data }: Secret, file: string): string | undefined {
  const value = data?.[file];
  return value === undefined || value === null ? undefined : Buffer.from(value, "base64").toString();
}

function pairOf(secret: Secret, name: string): KeyPair | undefined {
  const certificate = textOf(secret, `${name}.crt`);
  const key = textOf(secret, `${name}.key`);
  return certificate === undefined || key === undefined ? undefined : { certificate, key };
}

/** Undefined when the Secret does not hold an authority of ours. */
export function parseAuthority(secret: Secret, issuer: CertificateIssuer): AuthorityState | undefined {
  const current = pairOf(secret, "tls");
  const { [annotations.since]: since = "", [annotations.rotation]: rotation = "" } = secret.metadata.annotations ?? {};
  if (current === undefined || Number.isNaN(Date.parse(since)) || !canRead(current, issuer)) return undefined;
  const [standby, previous] = [pairOf(secret, "next"), textOf(secret, "previous.crt")];
  return { current, currentSinceMs: Date.parse(since), standby, previous, rotation };
}

/**
 * Whether an operator made it for an instance. Its key would let the owner of another instance in, whatever
 * labels the Secret has.
 */
export function isOperatorsAuthority({ metadata }: Secret, { owner }: CertificatePlace): boolean {
  const isOfInstance = metadata.ownerReferences?.some(
    ({ apiVersion, kind }) => kind === owner.kind && apiVersion === owner.apiVersion,
  );
  return isOfInstance === true || metadata.annotations?.[annotations.since] !== undefined;
}

/** An authority that a user gave: nothing replaces it, and its bundle is the user's when there is one. */
export function parseGivenAuthority(secret: Secret, issuer: CertificateIssuer): AuthorityState | undefined {
  const current = pairOf(secret, "tls");
  if (current === undefined || !canRead(current, issuer)) return undefined;
  return { current, currentSinceMs: 0, rotation: "", bundle: textOf(secret, "ca.crt") ?? current.certificate };
}

/** Undefined when a new certificate must be issued: a file is missing, or cannot be read. */
export function parseLeaf(secret: Secret, issuer: CertificateIssuer): LeafState | undefined {
  const pair = pairOf(secret, "tls");
  const { [annotations.issued]: issued = "", [annotations.bundleChanged]: changed } = secret.metadata.annotations ?? {};
  if (pair === undefined || Number.isNaN(Date.parse(issued)) || !canRead(pair, issuer)) return undefined;
  const bundleChangedMs = changed === undefined ? undefined : Date.parse(changed);
  return { pair, issuedMs: Date.parse(issued), bundle: textOf(secret, "ca.crt") ?? "", bundleChangedMs };
}

function canRead({ certificate }: KeyPair, issuer: CertificateIssuer): boolean {
  try {
    issuer.describe(certificate);
    return true;
  } catch {
    return false;
  }
}

/** The Secret of an authority. */
export function authoritySecret(place: CertificatePlace, authority: AuthorityState): Secret {
  const { current, standby, previous, currentSinceMs, rotation } = authority;
  const data = {
    "ca.crt": bundleOf(authority),
    "tls.crt": current.certificate,
    "tls.key": current.key,
    "next.crt": standby?.certificate,
    "next.key": standby?.key,
    "previous.crt": previous,
  };
  const times = { [annotations.since]: new Date(currentSinceMs).toISOString(), [annotations.rotation]: rotation };
  return secretAt(place, place.authoritySecret, "Opaque", data, times);
}

/** The Secret of one role. */
export function leafSecret(place: CertificatePlace, role: string, leaf: LeafState): Secret {
  const { pair, bundle, issuedMs, bundleChangedMs } = leaf;
  const data = { "ca.crt": bundle, "tls.crt": pair.certificate, "tls.key": pair.key };
  const changed =
    bundleChangedMs === undefined ? {} : { [annotations.bundleChanged]: new Date(bundleChangedMs).toISOString() };
  const times = { [annotations.issued]: new Date(issuedMs).toISOString(), ...changed };
  return secretAt(place, place.secretOf(role), "kubernetes.io/tls", data, times);
}

function secretAt(
  { namespace, owner, labels }: CertificatePlace,
  name: string,
  type: string,
  data: Data,
  times: Readonly<Record<string, string>>,
): Secret {
  const files = Object.entries(data).flatMap(([file, text]) =>
    text === undefined ? [] : [[file, Buffer.from(text).toString("base64")] as const],
  );
  const secret = Secret({ name, namespace, labels, annotations: times, type, data: Object.fromEntries(files) });
  return { ...secret, metadata: { ...secret.metadata, ownerReferences: [owner] } };
}

/** The merge patch that makes `present` like `wanted`; files that are no longer wanted go. */
export function secretPatch({ metadata, data = {} }: Stored<Secret>, wanted: Secret): object {
  const gone = Object.keys(data).map((file) => [file, null] as const);
  const { uid, resourceVersion } = metadata;
  return {
    metadata: { uid, resourceVersion, labels: wanted.metadata.labels, annotations: wanted.metadata.annotations },
    data: { ...Object.fromEntries(gone), ...wanted.data },
  };
}
