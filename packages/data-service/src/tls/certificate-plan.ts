/**
 * What is due for the certificates of one instance; pure. Trust always comes before use: the next authority
 * is in every trust bundle long before it signs anything, because some servers (etcd is one) read
 * certificates again for each connection, but their trust bundle only when they start.
 */
import type { CertificateFacts, LeafRequest } from "./certificate-issuer.ts";

/** How long certificates live, and how long all readers of a Secret may need to see a change of it. */
export interface CertificateTimes {
  readonly leafMs: number;
  /** How long one authority signs; it is valid for twice as long. */
  readonly authorityMs: number;
  /**
   * Nodes update the files of a mounted Secret after about a minute; clients that read it themselves may take
   * longer.
   */
  readonly overlapMs: number;
}

const dayMs = 86_400_000;

/** The defaults: certificates for 90 days, an authority for a year, and 10 minutes of overlap. */
export const certificateTimes: CertificateTimes = { leafMs: 90 * dayMs, authorityMs: 365 * dayMs, overlapMs: 600_000 };

/** One certificate that an instance needs: the role names it, and its Secret. */
export interface WantedLeaf extends Omit<LeafRequest, "lifetimeMs"> {
  readonly role: string;
}

/** What an instance needs. */
export interface WantedCertificates {
  readonly leaves: readonly WantedLeaf[];
  readonly times: CertificateTimes;
  /** Any text; a text that was not there before asks for a new authority now. */
  readonly rotation: string;
}

/** The authority of an instance as it is stored, without its keys. */
export interface SeenAuthority {
  readonly current: CertificateFacts;
  /** Since when it signs. */
  readonly currentSinceMs: number;
  /** Trusted by all, and signs nothing yet. An authority that a user gave has none. */
  readonly standby?: CertificateFacts | undefined;
  /** Signs nothing any more; still trusted. */
  readonly previous?: CertificateFacts | undefined;
  /** The request that the last change of the authority answered. */
  readonly rotation: string;
}

/** One certificate of an instance as it is stored, without its key. */
export interface SeenLeaf {
  readonly role: string;
  readonly certificate: CertificateFacts;
  readonly issuedMs: number;
  readonly isOfCurrent: boolean;
  readonly hasBundle: boolean;
  /** When the trust bundle beside it last changed; undefined while it is the first one. */
  readonly bundleChangedMs?: number | undefined;
}

/** A running process that read its trust bundle when it started. */
export interface Holder {
  readonly name: string;
  /** Whether its bundle has the standby authority. */
  readonly trustsStandby: boolean;
}

/** The stored certificates of one instance. */
export interface SeenCertificates {
  readonly authority?: SeenAuthority | undefined;
  readonly leaves: readonly SeenLeaf[];
  readonly holders: readonly Holder[];
}

/** One change of one Secret. */
export type CertificateStep =
  | { readonly kind: "createAuthority" }
  /** The standby authority signs from now on, and gets a new standby; the old one is trusted for a while. */
  | { readonly kind: "rotateAuthority" }
  | { readonly kind: "dropPrevious" }
  /** Writes the present trust bundle beside a certificate. */
  | { readonly kind: "distribute"; readonly role: string }
  | { readonly kind: "issue"; readonly role: string };

/** The step that is due, or when the next one will be. */
export interface DueCertificates {
  readonly step?: CertificateStep | undefined;
  readonly why: string;
  /** When the next step is due. */
  readonly atMs: number;
  /** Why the authority cannot be replaced although it should be. */
  readonly blocked?: string | undefined;
  /** The processes that must be restarted first, one by one. */
  readonly blockedBy?: readonly string[] | undefined;
}

/** The share of a life after which a certificate is replaced. */
const renewalShare = 2 / 3;

/** The next step for the certificates of an instance. */
export function dueCertificates(seen: SeenCertificates, wanted: WantedCertificates, nowMs: number): DueCertificates {
  const { authority } = seen;
  if (authority === undefined) return step({ kind: "createAuthority" }, nowMs, "there is no certificate authority yet");
  const leaves = wanted.leaves.map((leaf) => dueLeaf(leaf, seen, nowMs));
  const stepOfLeaf =
    leaves.find((due) => due.step?.kind === "distribute") ?? leaves.find((due) => due.step !== undefined);
  if (stepOfLeaf !== undefined) return stepOfLeaf;
  const ofAuthority = dueAuthority(authority, seen, wanted, nowMs);
  if (ofAuthority.step !== undefined) return ofAuthority;
  const next = [...leaves, ofAuthority].reduce((first, each) => (each.atMs < first.atMs ? each : first));
  return { ...next, blocked: ofAuthority.blocked, blockedBy: ofAuthority.blockedBy };
}

function dueLeaf({ role, hosts }: WantedLeaf, { leaves }: SeenCertificates, nowMs: number): DueCertificates {
  const leaf = leaves.find((each) => each.role === role);
  const issue = (why: string): DueCertificates =>
    step({ kind: "issue", role }, nowMs, `the ${role} certificate ${why}`);
  if (leaf === undefined) return issue("is missing");
  if (!leaf.hasBundle)
    return step({ kind: "distribute", role }, nowMs, `the ${role} Secret has an old bundle of authorities`);
  const lacking = hosts.find((host) => !leaf.certificate.hosts.includes(host));
  if (lacking !== undefined) return issue(`is not for ${lacking}`);
  if (!leaf.isOfCurrent) return issue("is of the previous authority");
  const { notAfterMs } = leaf.certificate;
  const renewalMs = leaf.issuedMs + renewalShare * (notAfterMs - leaf.issuedMs);
  if (nowMs >= renewalMs) return issue(`ends at ${new Date(notAfterMs).toISOString()}`);
  return { why: `the ${role} certificate is renewed`, atMs: renewalMs };
}

/** Called when all certificates are of the current authority, and all Secrets have the present bundle. */
function dueAuthority(
  authority: SeenAuthority,
  { leaves, holders }: SeenCertificates,
  { times, rotation }: WantedCertificates,
  nowMs: number,
): DueCertificates {
  if (authority.previous !== undefined) {
    const changes = leaves.map(({ issuedMs, bundleChangedMs = 0 }) => Math.max(issuedMs, bundleChangedMs));
    const endMs = Math.max(...changes) + times.overlapMs;
    const why = "the previous authority is dropped when all have certificates of the current one";
    return nowMs < endMs ? { why, atMs: endMs } : step({ kind: "dropPrevious" }, nowMs, why);
  }
  const { standby, currentSinceMs } = authority;
  if (standby === undefined) return { why: "the given authority is its owner's to renew", atMs: Infinity };
  const renewalMs = currentSinceMs + renewalShare * times.authorityMs;
  if (rotation === authority.rotation && nowMs < renewalMs)
    return { why: "the authority is followed by the next one", atMs: renewalMs };
  const trustedMs = Math.max(...leaves.map(({ bundleChangedMs = -Infinity }) => bundleChangedMs)) + times.overlapMs;
  if (nowMs < trustedMs)
    return { why: "the next authority signs when all clients have the bundle that trusts it", atMs: trustedMs };
  const before = holders.filter(({ trustsStandby }) => !trustsStandby).map(({ name }) => name);
  if (before.length > 0) {
    const blocked = `the next authority cannot sign yet: ${before.join(", ")} have to be restarted, because they started before it was trusted`;
    return { why: blocked, atMs: Infinity, blocked, blockedBy: before };
  }
  return step({ kind: "rotateAuthority" }, nowMs, "the next authority is trusted by all, and signs from now on");
}

function step(due: CertificateStep, atMs: number, why: string): DueCertificates {
  return { step: due, why, atMs };
}
