/**
 * The life of the certificates that an operator makes for itself, as a pure function: an authority of our
 * own, a certificate that it has signed, and the overlap in which both the old and the new authority are
 * trusted, so that no call is lost when one follows the other.
 */
import type { Clock, Random } from "@setpoint/host";
import { CertificateAuthority, createCertificateAuthority, type KeyPair } from "@setpoint/host/certificates";

export interface Expiring extends KeyPair {
  readonly untilMs: number;
}

/** What the Secret holds. */
export interface CertificateState {
  /** Signs what is served. */
  readonly authority: Expiring;
  /** The next authority: trusted already, but nothing that it signed is served yet. */
  readonly next?: Expiring;
  /** The previous authority: still trusted, because other replicas may serve or verify with it. */
  readonly previous?: string;
  /** When all API servers received the present trust bundle; absent until then. */
  readonly publishedAtMs?: number;
  readonly serving: Expiring;
  /** The names that the serving certificate is for. */
  readonly hosts: readonly string[];
}

/** How long certificates are valid, and how long old and new authorities are trusted together. */
export interface CertificateTimes {
  readonly authorityDays: number;
  readonly servingDays: number;
  /**
   * How long old and new are trusted side by side: API servers need seconds to learn of a change, replicas
   * less.
   */
  readonly overlapMs: number;
}

/** The defaults: an authority for a year, serving certificates for 90 days, 10 minutes of overlap. */
export const certificateTimes: CertificateTimes = { authorityDays: 365, servingDays: 90, overlapMs: 600_000 };

export interface CertificatePorts {
  readonly clock: Clock;
  readonly random: Random;
}

const dayMs = 86_400_000;
/** A certificate is replaced when this share of its life is left. */
const renewShare = 1 / 3;

/** Everything that API servers have to trust now, as PEM. */
export function trustBundle({ authority, next, previous = "" }: CertificateState): string {
  return `${authority.certificate}${next?.certificate ?? ""}${previous}`;
}

/** The state as it should be now; the same object when nothing is to be done. */
export function planCertificates(
  state: CertificateState | undefined,
  hosts: readonly string[],
  ports: CertificatePorts,
  times: CertificateTimes = certificateTimes,
): CertificateState {
  if (state === undefined) {
    const authority = newAuthority(ports, times);
    return { authority, serving: newServing(authority, hosts, ports, times), hosts };
  }
  return withServing(withAuthority(state, ports, times), hosts, ports, times);
}

/** Begins to replace the authority although it is still good. */
export function planRotation(
  state: CertificateState,
  ports: CertificatePorts,
  times: CertificateTimes = certificateTimes,
): CertificateState {
  const { publishedAtMs: _published, ...rest } = state;
  return state.next === undefined ? { ...rest, next: newAuthority(ports, times) } : state;
}

/** When the plan must be computed again. */
export function nextLookAtMs(state: CertificateState, times: CertificateTimes = certificateTimes): number {
  const { authority, serving, next, previous, publishedAtMs } = state;
  const isRotating = next !== undefined || previous !== undefined;
  const never = Number.POSITIVE_INFINITY;
  // While one authority follows another, only the overlap counts; it begins when it has been published.
  const overlapEnd = publishedAtMs === undefined ? never : publishedAtMs + times.overlapMs;
  const authorityChange = isRotating ? overlapEnd : renewalMs(authority, times.authorityDays);
  return Math.min(authorityChange, renewalMs(serving, times.servingDays));
}

function renewalMs({ untilMs }: Expiring, days: number): number {
  return untilMs - days * dayMs * renewShare;
}

function withAuthority(state: CertificateState, ports: CertificatePorts, times: CertificateTimes): CertificateState {
  const now = ports.clock.now();
  const { next, previous, publishedAtMs, ...rest } = state;
  if (next === undefined && previous === undefined) {
    return now < renewalMs(state.authority, times.authorityDays) ? state : planRotation(state, ports, times);
  }
  if (publishedAtMs === undefined || now < publishedAtMs + times.overlapMs) return state;
  // Everybody trusts the next authority by now: it may sign, and the old one is trusted for as long again.
  if (next !== undefined) {
    const serving = newServing(next, state.hosts, ports, times);
    return { ...rest, authority: next, previous: state.authority.certificate, serving };
  }
  // Nobody serves anything of the previous authority any more.
  return rest;
}

function withServing(
  state: CertificateState,
  hosts: readonly string[],
  ports: CertificatePorts,
  times: CertificateTimes,
): CertificateState {
  const isNamed = hosts.every((each) => state.hosts.includes(each));
  if (isNamed && ports.clock.now() < renewalMs(state.serving, times.servingDays)) return state;
  const all = [...new Set([...state.hosts, ...hosts])];
  return { ...state, serving: newServing(state.authority, all, ports, times), hosts: all };
}

function newAuthority({ clock, random }: CertificatePorts, { authorityDays }: CertificateTimes): Expiring {
  const commonName = "setpoint-operator";
  const { certificate, key } = createCertificateAuthority({ clock, random, commonName, validityDays: authorityDays });
  return { certificate, key, untilMs: clock.now() + authorityDays * dayMs };
}

function newServing(
  authority: KeyPair,
  hosts: readonly string[],
  { clock, random }: CertificatePorts,
  { servingDays }: CertificateTimes,
): Expiring {
  const signer = new CertificateAuthority(authority, { clock, random });
  const pair = signer.issueServer({ commonName: hosts[0] ?? "webhooks", hosts, validityDays: servingDays });
  return { ...pair, untilMs: clock.now() + servingDays * dayMs };
}
