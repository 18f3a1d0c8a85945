/**
 * The certificates of one instance with their keys, and what each step makes of them. Only stores and tests
 * see these values.
 */
import { type CertificateIssuer, type IssuerPorts, type KeyPair, splitBundle } from "./certificate-issuer.ts";
import type {
  CertificateStep,
  CertificateTimes,
  SeenAuthority,
  SeenCertificates,
  SeenLeaf,
  WantedCertificates,
} from "./certificate-plan.ts";

/** The authority of an instance: the one that signs, the one that follows, and the one before. */
export interface AuthorityState {
  readonly current: KeyPair;
  readonly currentSinceMs: number;
  readonly standby?: KeyPair | undefined;
  /** A certificate alone: its key is gone. */
  readonly previous?: string | undefined;
  /** What is trusted instead of `current`, for an authority that a user gave with a bundle. */
  readonly bundle?: string | undefined;
  readonly rotation: string;
}

/** A certificate with its key and what its users have to trust. */
export interface LeafState {
  readonly pair: KeyPair;
  readonly issuedMs: number;
  readonly bundle: string;
  readonly bundleChangedMs?: number | undefined;
}

/** Everything that is stored, by role. */
export interface CertificateState {
  readonly authority?: AuthorityState | undefined;
  readonly leaves: ReadonlyMap<string, LeafState>;
}

/** What makes certificates. */
export interface CertificatePorts extends IssuerPorts {
  readonly issuer: CertificateIssuer;
}

/** All certificates that clients and servers of the instance must trust, as PEM. */
export function bundleOf({ current, standby, previous = "", bundle }: AuthorityState): string {
  return bundle ?? `${current.certificate}${standby?.certificate ?? ""}${previous}`;
}

/** What the plan may know of the state. */
export function seenCertificates(
  { authority, leaves }: CertificateState,
  issuer: CertificateIssuer,
): Omit<SeenCertificates, "holders"> {
  if (authority === undefined) return { leaves: [] };
  return {
    authority: seenAuthority(authority, issuer),
    leaves: [...leaves].map(([role, leaf]) => seenLeaf(role, leaf, authority, issuer)),
  };
}

/** The IDs of all authorities of a bundle. */
export function bundleIds(bundle: string, issuer: CertificateIssuer): readonly string[] {
  return splitBundle(bundle).map((each) => issuer.describe(each).id);
}

function seenAuthority(authority: AuthorityState, issuer: CertificateIssuer): SeenAuthority {
  const { current, currentSinceMs, standby, previous, rotation } = authority;
  return {
    current: issuer.describe(current.certificate),
    currentSinceMs,
    rotation,
    standby: standby === undefined ? undefined : issuer.describe(standby.certificate),
    previous: previous === undefined ? undefined : issuer.describe(previous),
  };
}

function seenLeaf(role: string, leaf: LeafState, authority: AuthorityState, issuer: CertificateIssuer): SeenLeaf {
  const { pair, issuedMs, bundle, bundleChangedMs } = leaf;
  return {
    role,
    certificate: issuer.describe(pair.certificate),
    issuedMs,
    bundleChangedMs,
    hasBundle: bundle === bundleOf(authority),
    isOfCurrent: issuer.isIssuedBy(pair.certificate, authority.current.certificate),
  };
}

/** The state after a step. Each step changes one value of it: one Secret. */
export function afterStep(
  state: CertificateState,
  step: CertificateStep,
  wanted: WantedCertificates,
  ports: CertificatePorts,
): CertificateState {
  const { authority } = state;
  if (step.kind === "createAuthority") return { ...state, authority: newAuthority(wanted, ports) };
  if (authority === undefined) return state;
  if (step.kind === "rotateAuthority") return { ...state, authority: rotated(authority, wanted, ports) };
  if (step.kind === "dropPrevious") return { ...state, authority: { ...authority, previous: undefined } };
  const leaf = step.kind === "issue" ? issued(state, step.role, wanted, ports) : distributed(state, step.role, ports);
  return leaf === undefined ? state : { ...state, leaves: new Map([...state.leaves, [step.role, leaf]]) };
}

function newAuthority({ times, rotation }: WantedCertificates, ports: CertificatePorts): AuthorityState {
  const current = newPair(times, ports);
  return { current, currentSinceMs: ports.clock.now(), standby: newPair(times, ports), rotation };
}

function newPair({ authorityMs }: CertificateTimes, { issuer, clock, random }: CertificatePorts): KeyPair {
  const commonName = `setpoint-ca-${random.uuid().slice(0, 8)}`;
  return issuer.createAuthority({ commonName, lifetimeMs: 2 * authorityMs }, { clock, random });
}

function rotated(
  authority: AuthorityState,
  { times, rotation }: WantedCertificates,
  ports: CertificatePorts,
): AuthorityState {
  const { current, standby } = authority;
  if (standby === undefined) return authority;
  return {
    current: standby,
    currentSinceMs: ports.clock.now(),
    standby: newPair(times, ports),
    previous: current.certificate,
    rotation,
  };
}

function issued(
  { authority, leaves }: CertificateState,
  role: string,
  { leaves: all, times }: WantedCertificates,
  { issuer, clock, random }: CertificatePorts,
): LeafState | undefined {
  const request = all.find((each) => each.role === role);
  if (authority === undefined || request === undefined) return undefined;
  const { commonName, hosts } = request;
  const pair = issuer.issue(authority.current, { commonName, hosts, lifetimeMs: times.leafMs }, { clock, random });
  return {
    pair,
    issuedMs: clock.now(),
    bundle: bundleOf(authority),
    bundleChangedMs: bundleChange(leaves, role, clock),
  };
}

/**
 * A Secret that is made again has a bundle that others may see for the first time; at the very beginning all
 * have.
 */
function bundleChange(
  leaves: ReadonlyMap<string, LeafState>,
  role: string,
  clock: IssuerPorts["clock"],
): number | undefined {
  const present = leaves.get(role);
  if (present !== undefined) return present.bundleChangedMs;
  return [...leaves.values()].every(({ bundleChangedMs }) => bundleChangedMs === undefined) ? undefined : clock.now();
}

function distributed(
  { authority, leaves }: CertificateState,
  role: string,
  { clock }: CertificatePorts,
): LeafState | undefined {
  const leaf = leaves.get(role);
  if (authority === undefined || leaf === undefined) return undefined;
  return { ...leaf, bundle: bundleOf(authority), bundleChangedMs: clock.now() };
}
