/** Leader election on a Lease as in client-go, with a fence: the monotonic clock decides who may write. */
import { isNotFound, SetpointError } from "@setpoint/apimachinery";
import type { Client, Stored } from "@setpoint/client";
import { microTimestamp, sleep, type Host } from "@setpoint/host";
import { errNotLeader } from "../errors.ts";
import { withinTime } from "./within-time.ts";
import { Lease } from "./lease.ts";
import type { LeaseHolder, LeaseEnd } from "./lease-holder.ts";
import type { LeaderElectionOptions } from "./lease-options.ts";

const leaseDurationSecondsDefault = 15;
const renewDeadlineSecondsDefault = 10;
const retryPeriodSecondsDefault = 2;

/** A run on a desk names itself with it on the Lease of a copy in the cluster, which takes it away. */
export const deskAnnotation = "setpoint.dev/runs-on-desk";

/** A lease, and when this process first saw it in this state. */
interface Observation {
  readonly resourceVersion: string;
  readonly atMs: number;
}

/**
 * Guarantees: `isHeld` is true for at most `renewDeadline` after the *start* of the last successful renewal.
 * Other candidates wait `leaseDuration` from when they *saw* it. The difference is the margin for writes on
 * their way. Clocks of different machines are never compared.
 */
export class LeaderElector implements LeaseHolder {
  readonly identity: string;
  readonly #client: Client;
  readonly #host: Host;
  readonly #options: LeaderElectionOptions;
  readonly #durationSeconds: number;
  readonly #deadlineMs: number;
  readonly #periodMs: number;
  #validUntilMs = Number.NEGATIVE_INFINITY;
  /** Our own lease as last written; undefined when it must be read first. */
  #own: Stored<Lease> | undefined;
  /**
   * When the last attempt started, and when its write was sent. The time of the read before it does not count
   * for the lease.
   */
  #attemptedMs = Number.NEGATIVE_INFINITY;
  #writtenMs = Number.NEGATIVE_INFINITY;
  #observation: Observation | undefined;
  #holder: string | undefined;

  constructor(client: Client, host: Host, options: LeaderElectionOptions & { readonly identity: string }) {
    this.#client = client;
    this.#host = host;
    this.#options = options;
    this.identity = options.identity;
    this.#durationSeconds = options.leaseDurationSeconds ?? leaseDurationSecondsDefault;
    this.#deadlineMs = (options.renewDeadlineSeconds ?? renewDeadlineSecondsDefault) * 1_000;
    this.#periodMs = (options.retryPeriodSeconds ?? retryPeriodSecondsDefault) * 1_000;
    if (this.#deadlineMs >= this.#durationSeconds * 1_000)
      throw new SetpointError(
        "ERR_LEASE_OPTIONS",
        `Cannot elect a leader: the renew deadline (${this.#deadlineMs / 1_000} s) must be shorter than the lease (${this.#durationSeconds} s)`,
      );
  }

  get isHeld(): boolean {
    return this.#host.clock.monotonic() < this.#validUntilMs;
  }

  get heldForMs(): number {
    return this.#validUntilMs - this.#host.clock.monotonic();
  }

  /** The holder of the lease, as far as this process has seen. */
  get holder(): string | undefined {
    return this.isHeld ? this.identity : this.#holder;
  }

  /** Throws `ERR_NOT_LEADER` when this process may not write. */
  assertHeld(): void {
    if (!this.isHeld)
      throw new SetpointError(
        errNotLeader,
        `Cannot write as "${this.identity}": it does not hold Lease "${this.#options.namespace}/${this.#options.name}"`,
      );
  }

  /** Resolves when this process has become the leader; rejects when the signal aborts. */
  async acquire(signal: AbortSignal): Promise<void> {
    while (!(await this.#tryOnce(signal)))
      await sleep(this.#host.clock, this.#periodMs * (1 + this.#host.random.next() * 0.2), signal);
    this.#host.log.info("Became leader", { lease: this.#options.name, identity: this.identity });
  }

  /** Renews until the lease is lost or the signal aborts. */
  async hold(signal: AbortSignal): Promise<LeaseEnd> {
    for (;;) {
      // Measured from start to start: a slow answer must not shorten the time for the next attempt.
      const dueMs = Math.min(this.#attemptedMs + this.#periodMs, this.#validUntilMs);
      await sleep(this.#host.clock, Math.max(0, dueMs - this.#host.clock.monotonic()), signal).catch(() => {});
      if (signal.aborted) return "stopped";
      if (!this.isHeld) return "lost";
      await this.#tryOnce(signal);
    }
  }

  /** Releases the lease, so that another candidate need not wait for its expiry. */
  async release(): Promise<void> {
    if (!this.isHeld) return;
    this.#validUntilMs = Number.NEGATIVE_INFINITY;
    try {
      await this.#limited(new AbortController().signal, (signal) => this.#giveUp(signal));
    } catch (error) {
      this.#host.log.warn("Lease was not released", { lease: this.#options.name, error });
    }
  }

  async #giveUp(signal: AbortSignal): Promise<void> {
    // An aborted renewal may have happened or not.
    const own = this.#own ?? (await this.#read(signal));
    if (own === undefined || own.spec.holderIdentity !== this.identity) return;
    const renewTime = microTimestamp(this.#host.clock);
    const spec = { ...own.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime };
    await this.#client.update<Lease>(Lease, { ...own, spec }, { signal });
  }

  /** One attempt to acquire or renew the lease; never throws. */
  async #tryOnce(signal: AbortSignal): Promise<boolean> {
    this.#attemptedMs = this.#host.clock.monotonic();
    try {
      const written = await this.#limited(signal, (limit) => this.#write(limit));
      this.#own = written;
      if (written === undefined) this.#validUntilMs = Number.NEGATIVE_INFINITY;
      else this.#validUntilMs = this.#writtenMs + this.#deadlineMs;
    } catch (error) {
      // After a conflict or without an answer, the next attempt must read the lease.
      this.#own = undefined;
      if (!signal.aborted) this.#host.log.warn("Lease was not renewed", { lease: this.#options.name, error });
    }
    return this.isHeld;
  }

  /** Writes the lease with this process as holder; undefined when another process holds it. */
  async #write(signal: AbortSignal): Promise<Stored<Lease> | undefined> {
    const { name, namespace } = this.#options;
    const present = this.#own ?? (await this.#read(signal));
    this.#writtenMs = this.#host.clock.monotonic();
    const now = microTimestamp(this.#host.clock);
    const mine = { holderIdentity: this.identity, leaseDurationSeconds: this.#durationSeconds, renewTime: now };
    if (present === undefined)
      return this.#client.create<Lease>(
        Lease,
        Lease({ name, namespace, spec: { ...mine, acquireTime: now, leaseTransitions: 0 } }),
        { signal },
      );
    const isMine = present.spec.holderIdentity === this.identity;
    const { [deskAnnotation]: desk, ...annotations } = present.metadata.annotations ?? {};
    if (desk !== undefined && isMine) this.#warnOf(desk);
    if (!isMine && !this.#isOver(present)) return undefined;
    const transitions = present.spec.leaseTransitions ?? 0;
    const spec = isMine
      ? { ...present.spec, ...mine }
      : { ...present.spec, ...mine, acquireTime: now, leaseTransitions: transitions + 1 };
    const metadata = desk === undefined ? present.metadata : { ...present.metadata, annotations };
    return this.#client.update<Lease>(Lease, { ...present, metadata, spec }, { signal });
  }

  #warnOf(desk: string): void {
    this.#host.log.warn("The operator also runs on a desk: both copies change the same objects", {
      desk,
      advice: "end that run, or stop this copy meanwhile",
    });
  }

  async #read(signal: AbortSignal): Promise<Stored<Lease> | undefined> {
    try {
      return await this.#client.get(Lease, this.#options, { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /**
   * Whether another holder's lease is over: released, or unchanged for its duration since this process first
   * saw it.
   */
  #isOver(lease: Stored<Lease>): boolean {
    this.#holder = lease.spec.holderIdentity;
    if ((lease.spec.holderIdentity ?? "") === "") return true;
    const nowMs = this.#host.clock.monotonic();
    const { resourceVersion } = lease.metadata;
    if (this.#observation?.resourceVersion !== resourceVersion) this.#observation = { resourceVersion, atMs: nowMs };
    return nowMs >= this.#observation.atMs + (lease.spec.leaseDurationSeconds ?? this.#durationSeconds) * 1_000;
  }

  /** An attempt that gets no answer ends with the deadline, whatever the transport does. */
  #limited<T>(signal: AbortSignal, attempt: (limit: AbortSignal) => Promise<T>): Promise<T> {
    return withinTime(this.#host.clock, this.isHeld ? this.heldForMs : this.#deadlineMs, signal, attempt);
  }
}
