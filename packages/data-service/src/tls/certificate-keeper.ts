/**
 * Reads the certificates of one instance, and performs what is due for them. Keys pass through here and go
 * nowhere else.
 */
import { isAlreadyExists, isNotFound } from "@setpoint/apimachinery";
import type { ReconcileContext, Stored } from "setpoint";
import { Secret } from "setpoint/kinds";
import { BoundedMap } from "../engine/bounded-map.ts";
import { secretProblem } from "../engine/consent.ts";
import {
  type CertificateStep,
  type DueCertificates,
  dueCertificates,
  type Holder,
  type SeenCertificates,
  type WantedCertificates,
} from "./certificate-plan.ts";
import {
  authoritySecret,
  type CertificatePlace,
  isOperatorsAuthority,
  leafSecret,
  parseAuthority,
  parseGivenAuthority,
  parseLeaf,
  secretPatch,
} from "./certificate-secrets.ts";
import {
  afterStep,
  bundleIds,
  bundleOf,
  type CertificatePorts,
  type CertificateState,
  type LeafState,
  seenCertificates,
} from "./certificate-state.ts";
import type { CertificateIssuer } from "./certificate-issuer.ts";

/**
 * One instance: where its certificates are, what it needs, and the processes that read a bundle at their
 * start.
 */
export interface CertificateSubject {
  readonly place: CertificatePlace;
  readonly wanted: WantedCertificates;
  /** Any text: when it changes, Secrets are read again. */
  readonly revision?: string | undefined;
  readonly processes: readonly { readonly name: string; readonly trusts: readonly string[] }[];
}

/** What may be shown of certificates: no key, no certificate. */
export interface CertificateReport {
  readonly due: DueCertificates;
  /** Why nothing can be done; a person has to act. */
  readonly problem?: string | undefined;
  /** The same, when it is because of the Secret that the spec names as the authority. */
  readonly givenAuthorityProblem?: string | undefined;
  /** The IDs of the authorities that a process trusts which starts now. */
  readonly trusts: readonly string[];
  /** When the first certificate ends; undefined without one. */
  readonly endsMs?: number | undefined;
  readonly authorityEndsMs?: number | undefined;
}

/** More than this many changes in one go cannot be due. */
const stepsMax = 30;

interface Problems {
  readonly problem?: string | undefined;
  readonly givenAuthorityProblem?: string | undefined;
}

interface Reading extends Problems {
  readonly state: CertificateState;
  readonly secrets: Map<string, Stored<Secret>>;
}

type Context = Pick<ReconcileContext, "client" | "host" | "signal">;

/** What is remembered of a reading: no key but that of the operator's own certificate. */
interface Remembered extends Problems {
  /** What the reading was for. */
  readonly subject: string;
  readonly readMs: number;
  readonly seen: Omit<SeenCertificates, "holders">;
  readonly trusts: readonly string[];
  readonly own?: LeafState | undefined;
}

/**
 * At rest nothing is read: a Secret that a user has deleted comes back after this time, or with the next
 * change.
 */
const rememberMsMax = 7 * 86_400_000;
/** Enough for all instances of an operator; a forgotten one is read again. */
const rememberedMax = 1_000;

/** Keeps the certificates of instances in Secrets that belong to them. */
export class CertificateKeeper {
  readonly #issuer: CertificateIssuer;
  readonly #remembered = new BoundedMap<string, Remembered>(rememberedMax);

  constructor(issuer: CertificateIssuer) {
    this.#issuer = issuer;
  }

  /** What is due, and the certificate of `ownRole` with its key, for the operator's own calls. */
  async observe(
    subject: CertificateSubject,
    ownRole: string,
    context: Context,
  ): Promise<{ readonly report: CertificateReport; readonly own?: LeafState | undefined }> {
    const known = this.#recall(subject, context);
    if (known !== undefined) {
      const report = reportOf(known, subject, context);
      if (report.due.step === undefined) return { report, own: known.own };
    }
    const read = await this.#remember(subject, ownRole, context);
    return { report: reportOf(read, subject, context), own: read.own };
  }

  /** The next observation reads again: a member does not accept the certificate, or does not answer. */
  forget({ owner }: CertificatePlace): void {
    this.#remembered.delete(owner.uid);
  }

  #recall(subject: CertificateSubject, { host: { clock } }: Context): Remembered | undefined {
    const known = this.#remembered.get(subject.place.owner.uid);
    if (known === undefined || known.subject !== textOfSubject(subject)) return undefined;
    // A person acts on the Secret, which changes nothing of the subject.
    if (known.problem !== undefined) return undefined;
    return clock.monotonic() - known.readMs < rememberMsMax ? known : undefined;
  }

  async #remember(subject: CertificateSubject, ownRole: string, context: Context): Promise<Remembered> {
    const { uid } = subject.place.owner;
    const { state, problem, givenAuthorityProblem } = await this.#read(subject, context);
    const { authority } = state;
    const read: Remembered = {
      subject: textOfSubject(subject),
      readMs: context.host.clock.monotonic(),
      seen: seenCertificates(state, this.#issuer),
      trusts: authority === undefined ? [] : bundleIds(bundleOf(authority), this.#issuer),
      problem,
      givenAuthorityProblem,
      own: state.leaves.get(ownRole),
    };
    this.#remembered.set(uid, read);
    return read;
  }

  /** The certificate of one role with its key; undefined while there is none. */
  async leafOf(role: string, place: CertificatePlace, context: Context): Promise<LeafState | undefined> {
    const secret = await readSecret(place.secretOf(role), place, context);
    return secret === undefined || !isOurs(secret, place) ? undefined : parseLeaf(secret, this.#issuer);
  }

  /**
   * Performs all that is due now, one Secret after another. Each change is safe when the next one never
   * comes.
   */
  async maintain(subject: CertificateSubject, context: Context): Promise<void> {
    this.forget(subject.place);
    const { secrets, problem, ...reading } = await this.#read(subject, context);
    if (problem !== undefined) return;
    let { state } = reading;
    const ports: CertificatePorts = { clock: context.host.clock, random: context.host.random, issuer: this.#issuer };
    for (let count = 0; count < stepsMax; count++) {
      const seen = seenCertificates(state, this.#issuer);
      const holders = subject.processes.map((each) => holderOf(each, seen.authority?.standby?.id));
      const { step } = dueCertificates({ ...seen, holders }, subject.wanted, context.host.clock.now());
      if (step === undefined) return;
      state = afterStep(state, step, subject.wanted, ports);
      const wanted = secretAfter(step, state, subject.place);
      const name = wanted.metadata.name ?? "";
      const written = await write(secrets.get(name), wanted, context);
      // Another process made it at the same time: its content counts.
      if (written === undefined) return;
      secrets.set(name, written);
    }
  }

  async #read({ place, wanted }: CertificateSubject, context: Context): Promise<Reading> {
    const secrets = new Map<string, Stored<Secret>>();
    const ours = await readSecret(place.givenAuthority ?? place.authoritySecret, place, context);
    const leaves = new Map<string, LeafState>();
    for (const { role } of wanted.leaves) {
      const secret = await readSecret(place.secretOf(role), place, context);
      if (secret === undefined) continue;
      secrets.set(secret.metadata.name, secret);
      const leaf = parseLeaf(secret, this.#issuer);
      if (leaf !== undefined) leaves.set(role, leaf);
    }
    const foreign = [...secrets.values()].find((secret) => !isOurs(secret, place));
    if (foreign !== undefined) return { state: { leaves }, secrets, problem: takenBy(foreign) };
    return { secrets, ...this.#authorityOf(ours, place, secrets, leaves) };
  }

  #authorityOf(
    secret: Stored<Secret> | undefined,
    place: CertificatePlace,
    secrets: Map<string, Stored<Secret>>,
    leaves: ReadonlyMap<string, LeafState>,
  ): Pick<Reading, "state" | keyof Problems> {
    if (place.givenAuthority !== undefined) return this.#givenAuthority(secret, place.givenAuthority, place, leaves);
    if (secret === undefined) return { state: { leaves } };
    secrets.set(secret.metadata.name, secret);
    if (!isOurs(secret, place)) return { state: { leaves }, problem: takenBy(secret) };
    const authority = parseAuthority(secret, this.#issuer);
    if (authority !== undefined) return { state: { authority, leaves } };
    // A new one would not be trusted by processes that run.
    const problem = `Secret "${secret.metadata.name}" has lost its authority: restore its files, or delete it for a new authority`;
    return { state: { leaves }, problem };
  }

  /**
   * With a Secret that may not sign, processes go on with the certificates that they have, and with what they
   * trust.
   */
  #givenAuthority(
    secret: Stored<Secret> | undefined,
    name: string,
    place: CertificatePlace,
    leaves: ReadonlyMap<string, LeafState>,
  ): Pick<Reading, "state" | keyof Problems> {
    const authority = secret === undefined ? undefined : parseGivenAuthority(secret, this.#issuer);
    const refusal =
      secret !== undefined && isOperatorsAuthority(secret, place)
        ? `Secret "${name}" has an authority that the operator made for one instance, and signs for no other; name a Secret with an authority of your own, or remove the field`
        : secretProblem("certificateAuthority", { name, namespace: place.namespace }, secret)?.message;
    const invalid =
      authority === undefined ? `Secret "${name}" must have tls.crt and tls.key of an authority` : undefined;
    const problem = refusal ?? invalid;
    return { state: { authority, leaves }, problem, givenAuthorityProblem: problem };
  }
}

function reportOf(
  { seen, trusts, problem, givenAuthorityProblem }: Remembered,
  { wanted, processes }: CertificateSubject,
  { host: { clock } }: Context,
): CertificateReport {
  const holders = processes.map((each) => holderOf(each, seen.authority?.standby?.id));
  const due = dueCertificates({ ...seen, holders }, wanted, clock.now());
  const ends = seen.leaves.map(({ certificate }) => certificate.notAfterMs);
  return {
    due: problem === undefined ? due : { why: problem, atMs: Infinity },
    problem,
    givenAuthorityProblem,
    trusts,
    endsMs: ends.length === 0 ? undefined : Math.min(...ends),
    authorityEndsMs: seen.authority?.current.notAfterMs,
  };
}

function holderOf({ name, trusts }: CertificateSubject["processes"][number], standby: string | undefined): Holder {
  return { name, trustsStandby: standby !== undefined && trusts.includes(standby) };
}

function textOfSubject({ place, ...rest }: CertificateSubject): string {
  return JSON.stringify([place.givenAuthority, rest]);
}

function secretAfter(step: CertificateStep, { authority, leaves }: CertificateState, place: CertificatePlace): Secret {
  if (step.kind === "issue" || step.kind === "distribute") {
    const leaf = leaves.get(step.role);
    if (leaf !== undefined) return leafSecret(place, step.role, leaf);
  }
  if (authority !== undefined) return authoritySecret(place, authority);
  throw new Error(`Cannot write certificates after step "${step.kind}": there is no authority`);
}

async function write(
  present: Stored<Secret> | undefined,
  wanted: Secret,
  { client, signal }: Context,
): Promise<Stored<Secret> | undefined> {
  const { name = "", namespace = "" } = wanted.metadata;
  if (present !== undefined) return client.patch(Secret, { name, namespace }, secretPatch(present, wanted), { signal });
  try {
    return await client.create(Secret, wanted, { signal });
  } catch (error) {
    if (isAlreadyExists(error)) return undefined;
    throw error;
  }
}

async function readSecret(
  name: string,
  { namespace }: CertificatePlace,
  { client, signal }: Context,
): Promise<Stored<Secret> | undefined> {
  try {
    return await client.get(Secret, { name, namespace }, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function isOurs({ metadata }: Secret, { owner }: CertificatePlace): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uid === owner.uid) ?? false;
}

function takenBy({ metadata: { name } }: Secret): string {
  return `Secret "${name}" belongs to another owner: rename or delete it`;
}
