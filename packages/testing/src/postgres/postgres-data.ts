/** What an instance of PostgreSQL keeps on its volume: a log of records, each on the branch on which it was written. */

export interface LogRecord {
  /** Who wrote it since when: a promotion begins a branch, whatever number its timeline has. */
  readonly branch: string;
  readonly value: string;
}

export class PostgresData {
  readonly systemId: string;
  timeline = 1;
  /** The branch that it writes on, when it is a primary. */
  branch: string;
  log: LogRecord[] = [];
  /** `standby.signal` and `primary_conninfo`: absent on a primary, also after a restart. */
  upstream: string | undefined;
  /** Standbys that must have a record before a commit is acknowledged. */
  synchronous = 0;

  constructor(systemId: string, branch: string) {
    this.systemId = systemId;
    this.branch = branch;
  }

  /** As a base backup. */
  static copyOf(other: PostgresData): PostgresData {
    const copy = new PostgresData(other.systemId, other.branch);
    copy.timeline = other.timeline;
    copy.log = [...other.log];
    copy.synchronous = other.synchronous;
    return copy;
  }

  get lsn(): number {
    return this.log.length;
  }

  /** Up to where both have the same records. */
  commonLsn(other: PostgresData): number {
    const limit = Math.min(this.lsn, other.lsn);
    let lsn = 0;
    while (lsn < limit && this.log[lsn]?.branch === other.log[lsn]?.branch) lsn++;
    return lsn;
  }

  /** Whether it has records that the other one has not: it cannot follow without being rewound. */
  hasDivergedFrom(other: PostgresData): boolean {
    return this.systemId !== other.systemId || this.commonLsn(other) < this.lsn;
  }

  /** Takes the next record of the other one; false when it has all. */
  receiveFrom(other: PostgresData): boolean {
    const record = other.log[this.lsn];
    if (record === undefined) return false;
    this.log.push(record);
    this.timeline = other.timeline;
    return true;
  }
}
