/** The acknowledged commits of the model, and the laws that follow from them. */
import type { SimulatedServer } from "./simulated-server.ts";

interface Acknowledged {
  readonly id: string;
  /** Where its record ended in the log. */
  readonly end: number;
  /** How many replicas had it then. */
  readonly copies: number;
}

/** What a promotion has lost of the commits that were acknowledged. */
export interface Loss {
  readonly primary: string;
  readonly timeline: number;
  readonly commits: readonly Acknowledged[];
}

export class CommitLedger {
  readonly violations: string[] = [];
  readonly losses: Loss[] = [];
  readonly #acknowledged = new Map<string, Acknowledged>();
  /** Who has begun each timeline of the data of a system. */
  readonly #beginnings = new Map<string, string>();

  get acknowledged(): readonly string[] {
    return [...this.#acknowledged.keys()];
  }

  acknowledge(id: string, server: SimulatedServer): void {
    const record = server.data.records.findLast(({ commit }) => commit === id);
    this.#acknowledged.set(id, { id, end: record?.end ?? 0, copies: server.synchronousNumber });
    if (record === undefined) this.violations.push(`${server.name} acknowledged ${id}, which is not in its log`);
  }

  takesOffice(server: SimulatedServer, servers: readonly SimulatedServer[], isPromoted: boolean): void {
    const { name, data } = server;
    for (const other of servers)
      if (other !== server && other.acceptsCommits && other.data.systemId === data.systemId)
        this.violations.push(`two primaries accept commits: ${name} and ${other.name}`);
    if (isPromoted) this.#begins(server);
    this.#judgeLoss(server);
  }

  /** Servers compare numbers only; here the contents are compared. */
  follows(replica: SimulatedServer, sender: SimulatedServer): void {
    const own = replica.data.records.at(-1);
    if (own === undefined) return;
    const theirs = sender.data.at(own.end);
    if (theirs?.serial !== own.serial)
      this.violations.push(
        `${replica.name} follows ${sender.name}, and their logs differ before byte ${own.end} of timeline ${own.timeline}`,
      );
  }

  #begins({ name, data: { systemId, timeline } }: SimulatedServer): void {
    const key = `${systemId} ${timeline}`;
    const first = this.#beginnings.get(key);
    if (first !== undefined) this.violations.push(`timeline ${timeline} begins twice: on ${first} and on ${name}`);
    this.#beginnings.set(key, name);
  }

  #judgeLoss({ name, data }: SimulatedServer): void {
    if (this.#acknowledged.size === 0) return;
    const present = new Set(data.records.map(({ commit }) => commit));
    const lost = [...this.#acknowledged.values()].filter(({ id }) => !present.has(id));
    if (lost.length === 0) return;
    const promised = lost.filter(({ copies }) => copies > 0);
    if (promised.length > 0)
      this.violations.push(
        `${name} became the primary without ${promised.length} commits that were acknowledged with copies, such as ${promised[0]?.id}`,
      );
    this.losses.push({ primary: name, timeline: data.timeline, commits: lost });
    for (const { id } of lost) this.#acknowledged.delete(id);
  }
}
