/**
 * One member of a group that shares keys: keeps its Lease, follows the membership, releases and acquires
 * keys.
 */
import { isAlreadyExists, isConflict, isNotFound, SetpointError } from "@setpoint/apimachinery";
import type { Client, Stored } from "@setpoint/client";
import { microTimestamp, sleep, type Host } from "@setpoint/host";
import { errNotLeader } from "../errors.ts";
import { Lease } from "./lease.ts";
import type { LeaseHolder, LeaseEnd } from "./lease-holder.ts";
import { withinTime } from "./within-time.ts";
import { GroupRecord } from "./group-record.ts";
import { LeaseObserver } from "./lease-observer.ts";
import { viewOf, type ShardView } from "./runnable-slots.ts";
import type { ShardPermits } from "./shard-permits.ts";
import { ackedAnnotation, groupLabel, isLater, isMembershipChanged, type SeenGroup } from "./shard-record.ts";

/** Members of a group; the record that all of them read stays small. */
const membersMax = 64;
/**
 * Epochs that some member has not released yet. With more, no new epoch is proposed until members have caught
 * up.
 */
const epochsMax = 32;
/** While keys change hands the group is looked at so much more often. */
const handoverHaste = 8;
/** Between two looks, however slow the server is. */
const minPauseMs = 50;

export interface ShardMemberOptions {
  readonly name: string;
  readonly namespace: string;
  /** What is hashed. */
  readonly identity: string;
  /** The Lease's own name, unique among all processes ever. */
  readonly leaseName: string;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

/**
 * Guarantees: at most one member runs a key in an epoch. It runs the key only when all members that ran it in
 * earlier epochs have released it or are dead. A member that could not renew its Lease for `renewDeadline`
 * writes nothing; the time is monotonic and counts from the start of the last successful renewal. Other
 * members remove its Lease only when they have seen it unchanged for `leaseDuration`. The removal carries the
 * revision that they saw, so a renewal that arrives meanwhile wins.
 *
 * Assumption: a write arrives within `leaseDuration` minus `renewDeadline`, and clock rates differ by less.
 */
export class ShardMember implements LeaseHolder {
  readonly permits: ShardPermits;
  readonly #client: Client;
  readonly #host: Host;
  readonly #options: ShardMemberOptions;
  readonly #observer: LeaseObserver;
  readonly #record: GroupRecord;
  readonly #onChanged: (slots: ReadonlySet<number>) => void;
  #own: Stored<Lease> | undefined;
  #validUntilMs = Number.NEGATIVE_INFINITY;
  #view: ShardView | undefined;
  #epochs: SeenGroup["epochs"] = [];
  #acked = 0;
  #isLost = false;
  #changedMs = 0;
  #isSettled = false;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #hasWarned = false;

  constructor(
    client: Client,
    host: Host,
    options: ShardMemberOptions,
    permits: ShardPermits,
    onChanged: (slots: ReadonlySet<number>) => void,
  ) {
    this.#client = client;
    this.#host = host;
    this.#options = options;
    this.#observer = new LeaseObserver(host.clock, options.leaseDurationMs);
    this.#record = new GroupRecord(client, host, options);
    this.permits = permits;
    this.#onChanged = onChanged;
  }

  /** Whether this process may write at all. */
  get isHeld(): boolean {
    return !this.#isLost && this.#host.clock.monotonic() < this.#validUntilMs;
  }

  get view(): ShardView | undefined {
    return this.#view;
  }

  /** Whether all keys of this member's share may run. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  get heldForMs(): number {
    return this.#validUntilMs - this.#host.clock.monotonic();
  }

  assertHeld(): void {
    if (this.isHeld) return;
    const { identity, namespace, name } = this.#options;
    throw new SetpointError(
      errNotLeader,
      `Cannot write as "${identity}": its Lease in the group "${namespace}/${name}" has not been renewed in time`,
    );
  }

  /** Resolves when this process is a member that the group knows; rejects when the signal aborts. */
  async acquire(signal: AbortSignal): Promise<void> {
    while (this.#own === undefined || this.#view === undefined) {
      const isDone = await this.#attempt(signal, async (limit) => {
        if (this.#own === undefined) await this.#join(limit);
        await this.#look(limit);
      });
      if (this.#view === undefined) await this.#pause(isDone, signal);
    }
    const { name, identity } = this.#options;
    this.#host.log.info("Joined the group", { group: name, identity, epoch: this.#view.epoch });
  }

  /** Takes part until the Lease is lost or the signal aborts. */
  async hold(signal: AbortSignal): Promise<LeaseEnd> {
    for (let isDone = true; ;) {
      await this.#pause(isDone, signal).catch(() => {});
      if (signal.aborted) return "stopped";
      isDone = await this.#attempt(signal, (limit) => this.#look(limit));
      if (signal.aborted) return "stopped";
      if (this.#isLost) return "lost";
    }
  }

  /** Leaves the group; all runs must have ended. */
  async release(): Promise<void> {
    this.#validUntilMs = Number.NEGATIVE_INFINITY;
    const own = this.#own;
    if (own === undefined || this.#isLost) return;
    const { log } = this.#host;
    await this.#attempt(new AbortController().signal, (limit) => this.#remove(own, limit, { uid: own.metadata.uid }));
    log.info("Left the group", { group: this.#options.name });
  }

  #pause(isDone: boolean, signal: AbortSignal): Promise<void> {
    const { retryPeriodMs } = this.#options;
    const periodMs = isDone && !this.#isSettled ? retryPeriodMs / handoverHaste : retryPeriodMs;
    const dueMs = this.#lookedMs + periodMs * (1 + this.#host.random.next() * 0.1);
    return sleep(this.#host.clock, Math.max(minPauseMs, dueMs - this.#host.clock.monotonic()), signal);
  }

  /** Never throws; says whether it went through. */
  async #attempt(signal: AbortSignal, act: (limit: AbortSignal) => Promise<void>): Promise<boolean> {
    try {
      await withinTime(this.#host.clock, this.#options.renewDeadlineMs, signal, act);
      return true;
    } catch (error) {
      if (!signal.aborted) this.#host.log.warn("Group was not looked at", { group: this.#options.name, error });
      return false;
    }
  }

  async #join(signal: AbortSignal): Promise<void> {
    const { name, namespace, leaseName } = this.#options;
    const startMs = this.#host.clock.monotonic();
    const lease = Lease({ name: leaseName, namespace, spec: this.#leaseSpec() });
    const labels = { [groupLabel]: name };
    const labelled = { ...lease, metadata: { ...lease.metadata, labels } };
    try {
      this.#own = await this.#client.create<Lease>(Lease, labelled, { signal });
      this.#validUntilMs = startMs + this.#options.renewDeadlineMs;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      // An earlier attempt without an answer: nobody else ever has this name.
      this.#own = await this.#client.get(Lease, { name: leaseName, namespace }, { signal });
    }
  }

  #leaseSpec(): Lease["spec"] {
    const { identity, leaseDurationMs } = this.#options;
    const renewTime = microTimestamp(this.#host.clock);
    return { holderIdentity: identity, leaseDurationSeconds: leaseDurationMs / 1_000, renewTime };
  }

  /**
   * One look at the group and what follows from it. Renewing does not wait for the look: a slow server
   * answers both late.
   */
  async #look(signal: AbortSignal): Promise<void> {
    this.#lookedMs = this.#host.clock.monotonic();
    const [listed] = await Promise.all([this.#record.list(signal), this.#renew(signal)]);
    const seen = this.#withHistory(listed);
    if (!seen.members.some(({ uid }) => uid === this.#own?.metadata.uid)) this.#lose();
    if (this.#isLost) return;
    this.#adopt(seen);
    // Without the record nobody knows what others have begun since.
    if (seen.isRecordLost !== true) this.#take(seen);
    await this.#removeDead(seen, signal);
    await this.#propose(seen, signal);
  }

  /**
   * The group with the history that this process knows, in case another client has removed or damaged the
   * group's Lease.
   */
  #withHistory(seen: SeenGroup): SeenGroup {
    const isKnown = seen.isRecordLost !== true && isLater(seen.epochs.at(-1), this.#epochs.at(-1));
    if (isKnown) this.#epochs = seen.epochs;
    return isKnown ? seen : { ...seen, epochs: this.#epochs, isRecordLost: true };
  }

  /** What is not ours any more must not begin from here on. */
  #adopt(seen: SeenGroup): void {
    const view = viewOf(seen, this.#own?.metadata.uid ?? "");
    if (view === undefined || (this.#view !== undefined && view.epoch <= this.#view.epoch)) return;
    const { name, identity } = this.#options;
    this.#host.log.info("Membership of the group changed", {
      group: name,
      identity,
      epoch: view.epoch,
      members: view.members,
    });
    const kept = view.runnable.map((isRunnable, slot) => isRunnable & (this.#view?.runnable[slot] ?? 0));
    const lost = this.permits.update(kept);
    this.#view = { ...view, runnable: kept };
    this.#changedMs = this.#host.clock.monotonic();
    this.#isSettled = false;
    // A run that asks for a lost key is refused, and the key is forgotten.
    if (lost.size > 0) this.#onChanged(lost);
  }

  /** Starts the slots that the other members have released. */
  #take(seen: SeenGroup): void {
    const view = viewOf(seen, this.#own?.metadata.uid ?? "");
    if (view === undefined || view.epoch !== this.#view?.epoch) return;
    this.#view = view;
    const gained = this.permits.update(view.runnable);
    const isSettled = view.runnable.every((isRunnable, slot) => isRunnable === view.owned[slot]);
    const isEverybodySettled = isSettled && this.#acked === view.epoch && seen.epochs.length > 0;
    if (isEverybodySettled && !this.#isSettled) this.#noteHandover();
    this.#isSettled = isEverybodySettled;
    if (gained.size > 0) this.#onChanged(gained);
  }

  #noteHandover(): void {
    this.#host.metrics
      .histogram(
        "setpoint_shard_handover_seconds",
        "From a change of the membership until this member runs its share.",
        [0.1, 0.5, 1, 2, 5, 10, 30, 60],
      )
      .observe((this.#host.clock.monotonic() - this.#changedMs) / 1_000, { group: this.#options.name });
  }

  /** Renews the Lease, and reports the epoch up to which this member has released its keys. */
  async #renew(signal: AbortSignal): Promise<void> {
    const present = this.#own;
    if (present === undefined) return;
    const startMs = this.#host.clock.monotonic();
    const acked = this.#view !== undefined && this.permits.isDrained() ? this.#view.epoch : this.#acked;
    const annotations = { ...present.metadata.annotations, [ackedAnnotation]: String(acked) };
    const renewed = { ...present, metadata: { ...present.metadata, annotations }, spec: this.#leaseSpec() };
    try {
      this.#own = await this.#client.update<Lease>(Lease, renewed, { signal });
    } catch (error) {
      if (isNotFound(error)) return this.#lose();
      // Another client has changed it, or the server has applied an earlier renewal that got no answer.
      this.#own = await this.#client.get(Lease, { ...this.#options, name: present.metadata.name }, { signal });
      if (this.#own.metadata.uid !== present.metadata.uid) this.#lose();
      throw error;
    }
    this.#acked = acked;
    this.#validUntilMs = startMs + this.#options.renewDeadlineMs;
  }

  #lose(): void {
    this.#isLost = true;
    this.#validUntilMs = Number.NEGATIVE_INFINITY;
  }

  async #removeDead({ members }: SeenGroup, signal: AbortSignal): Promise<void> {
    const others = members.filter(({ uid }) => uid !== this.#own?.metadata.uid);
    for (const member of this.#observer.over(others)) {
      const { uid, resourceVersion } = member.lease.metadata;
      this.#host.log.info("Removed a dead member", { group: this.#options.name, member: member.name });
      await this.#remove(member.lease, signal, { uid, resourceVersion });
      this.#isSettled = false;
    }
  }

  async #remove(
    { metadata: { name, namespace = "" } }: Stored<Lease>,
    signal: AbortSignal,
    preconditions: { readonly uid: string; readonly resourceVersion?: string },
  ): Promise<void> {
    try {
      await this.#client.delete(Lease, { name, namespace }, { preconditions, signal });
    } catch (error) {
      // Gone already, or alive after all.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  async #propose(seen: SeenGroup, signal: AbortSignal): Promise<void> {
    const isLost = seen.isRecordLost === true;
    if ((!isMembershipChanged(seen) && !isLost) || this.#isTooMuch(seen)) return;
    // Without a record, a member that has worked with an earlier record knows more than this process.
    const isNewcomer = this.#view === undefined;
    if ((seen.record === undefined || isLost) && isNewcomer && seen.members.some(({ acked }) => acked > 0)) return;
    this.#isSettled = false;
    await this.#record.propose(seen, this.#view?.epoch ?? 0, signal);
  }

  #isTooMuch({ members, epochs }: SeenGroup): boolean {
    const isTooMuch = members.length > membersMax || epochs.length > epochsMax;
    if (isTooMuch && !this.#hasWarned)
      this.#host.log.warn("Membership is not followed", {
        group: this.#options.name,
        ...{ members: members.length, membersMax, epochs: epochs.length, epochsMax },
      });
    this.#hasWarned = isTooMuch;
    return isTooMuch;
  }
}
