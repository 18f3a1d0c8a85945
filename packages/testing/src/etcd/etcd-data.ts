/** What one member keeps on its volume: its place in the log, and what the log has made so far. */

export interface MemberRecord {
  readonly id: string;
  /** Empty until it has started once. */
  readonly name: string;
  readonly peerUrl: string;
  readonly isLearner: boolean;
}

/** What a simulated etcd knows of users; replaced as a whole. */
export interface AuthRecord {
  readonly enabled: boolean;
  /** Passwords and rights by name. */
  readonly users: Readonly<Record<string, SimulatedUser>>;
}

export interface SimulatedUser {
  readonly password: string;
  /** What it may do; the model only keeps it. */
  readonly rights: unknown;
}

/** One entry of the replicated log. */
export type Change =
  | { readonly kind: "noop" }
  | { readonly kind: "put"; readonly key: string; readonly value: string | undefined }
  | { readonly kind: "add"; readonly member: MemberRecord }
  | { readonly kind: "promote"; readonly id: string }
  | { readonly kind: "remove"; readonly id: string }
  | { readonly kind: "publish"; readonly id: string; readonly name: string }
  | { readonly kind: "compact" }
  | { readonly kind: "alarm"; readonly id: string }
  /** The alarm CORRUPT of a member, on or off. */
  | { readonly kind: "corrupt"; readonly id: string; readonly isOn: boolean }
  | { readonly kind: "disarm" }
  | { readonly kind: "auth"; readonly auth: AuthRecord }
  | { readonly kind: "raise"; readonly clusterMinor: number };

/** A key that was written or, without a value, deleted. */
export interface KeyChange {
  readonly key: string;
  readonly value: string | undefined;
  readonly revision: number;
}

export class EtcdData {
  readonly clusterId: string;
  readonly memberId: string;
  index = 0;
  term = 0;
  revision = 1;
  /** The lowest minor that all members have had together; no older program may open this data. */
  clusterMinor = 0;
  keys: Map<string, string> = new Map();
  /** Changes of keys, oldest first; up to `compacted` only the last one of each key that is there. */
  history: KeyChange[] = [];
  /** Changes up to this revision are forgotten. */
  compacted = 0;
  members: Map<string, MemberRecord> = new Map();
  removed: Set<string> = new Set();
  /** Members whose file has reached its quota; the cluster accepts no writes. */
  alarms: Set<string> = new Set();
  /** Members with the alarm CORRUPT. */
  corrupt: Set<string> = new Set();
  auth: AuthRecord = { enabled: false, users: {} };
  /**
   * What all revisions take that are kept, and the file that holds them, which only a defragmentation makes
   * smaller.
   */
  historyBytes = 0;
  fileBytes = 0;

  constructor(clusterId: string, memberId: string) {
    this.clusterId = clusterId;
    this.memberId = memberId;
  }

  get voters(): readonly MemberRecord[] {
    return [...this.members.values()].filter((member) => !member.isLearner);
  }

  /** How many voters have started at least once. */
  get startedVoters(): number {
    return this.voters.filter(({ name }) => name !== "").length;
  }

  isVoter(id: string): boolean {
    return this.members.get(id)?.isLearner === false;
  }

  get quorum(): number {
    let voterCount = 0;
    for (const { isLearner } of this.members.values()) if (!isLearner) voterCount++;
    return Math.floor(voterCount / 2) + 1;
  }

  /** Whether a vote for a candidate with this log may be given by one with the `other`. */
  isUpToDate(other: EtcdData): boolean {
    return this.term > other.term || (this.term === other.term && this.index >= other.index);
  }

  apply(change: Change, term: number): void {
    this.index++;
    this.term = term;
    switch (change.kind) {
      case "noop":
        return;
      case "put":
        this.revision++;
        if (change.value === undefined) this.keys.delete(change.key);
        else this.keys.set(change.key, change.value);
        this.history.push({ key: change.key, value: change.value, revision: this.revision });
        this.historyBytes += change.key.length + (change.value?.length ?? 0);
        this.fileBytes = Math.max(this.fileBytes, this.historyBytes);
        return;
      case "compact":
        this.historyBytes = this.#liveBytes();
        this.history = this.history.filter((each) => each.value !== undefined && this.lastChange(each.key) === each);
        this.compacted = this.revision;
        return;
      case "alarm":
        this.alarms.add(change.id);
        return;
      case "corrupt":
        if (change.isOn) this.corrupt.add(change.id);
        else this.corrupt.delete(change.id);
        return;
      case "disarm":
        this.alarms.clear();
        return;
      case "auth":
        this.auth = change.auth;
        return;
      case "add":
        this.members.set(change.member.id, change.member);
        return;
      case "remove":
        this.members.delete(change.id);
        this.removed.add(change.id);
        return;
      case "promote":
        return this.#update(change.id, { isLearner: false });
      case "publish":
        return this.#update(change.id, { name: change.name });
      case "raise":
        this.clusterMinor = change.clusterMinor;
    }
  }

  /** As `--force-new-cluster`: entries that remove all others, which nobody has to agree to. */
  goOnAlone(): void {
    for (const id of this.members.keys()) if (id !== this.memberId) this.apply({ kind: "remove", id }, this.term);
    if (!this.isVoter(this.memberId)) this.apply({ kind: "promote", id: this.memberId }, this.term);
  }

  /** Takes over everything of the leader's log. */
  follow(leader: EtcdData): void {
    this.index = leader.index;
    this.term = leader.term;
    this.revision = leader.revision;
    this.clusterMinor = leader.clusterMinor;
    this.keys = new Map(leader.keys);
    this.history = [...leader.history];
    this.compacted = leader.compacted;
    this.members = new Map(leader.members);
    this.removed = new Set(leader.removed);
    this.alarms = new Set(leader.alarms);
    this.corrupt = new Set(leader.corrupt);
    this.auth = leader.auth;
    this.historyBytes = leader.historyBytes;
    this.fileBytes = Math.max(this.fileBytes, this.historyBytes);
  }

  /** The same data at this moment, for a copy of its folder. */
  copied(): EtcdData {
    const copy = new EtcdData(this.clusterId, this.memberId);
    copy.follow(this);
    copy.fileBytes = this.fileBytes;
    return copy;
  }

  lastChange(key: string): KeyChange | undefined {
    return this.history.findLast((each) => each.key === key);
  }

  defragment(): void {
    this.fileBytes = this.historyBytes;
  }

  #liveBytes(): number {
    let bytes = 0;
    for (const [key, value] of this.keys) bytes += key.length + value.length;
    return bytes;
  }

  #update(id: string, change: Partial<MemberRecord>): void {
    const member = this.members.get(id);
    if (member !== undefined) this.members.set(id, { ...member, ...change });
  }
}
