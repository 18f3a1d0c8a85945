/**
 * A model of etcd for simulated nodes: members with data, learners, elections, and etcd's rules and refusals.
 */
import { type Host, sleep } from "@setpoint/host";
import type { BeyondRepair, Launch, Program, ProgramModel } from "../program-model.ts";
import { etcdVersionOf, hostOf, parseEtcdArguments } from "./etcd-arguments.ts";
import type { EtcdData, MemberRecord } from "./etcd-data.ts";
import type { SimulatedMeasurements, SimulatedMemberStatus } from "./etcd-answers.ts";
import { EtcdMember, type EtcdNetwork, idOf } from "./etcd-member.ts";
import type { SimulatedSnapshot } from "../data-service/transfer-model.ts";
import { restoreSnapshot, snapshotText } from "./etcd-snapshot.ts";
import { EtcdModelRevisions } from "./etcd-model-revisions.ts";
import { asksBeforeStatus, EtcdModelUsers, type SimulatedLogin } from "./etcd-model-users.ts";
import { refusal } from "./etcd-refusal.ts";
import { MemberDelays } from "./member-delays.ts";
import { QuorumGroup, requestTimedOut } from "./quorum-group.ts";

/** etcd refuses membership changes until all voters have been connected for this long. */
const healthIntervalMs = 5_000;
const learnersMax = 1;
/** The share of the leader's log that a learner must have to be promoted. */
const inSyncRatio = 0.9;
const latencyMsMax = 4;
const noSpace = "etcdserver: mvcc: database space exceeded";
/** The actor that stops a member has read the state of the others at most this long before. */
const momentMs = 50;

/** Simulates etcd in pods, with membership, quorum and data, and records each violation of safety. */
export class EtcdModel implements ProgramModel {
  readonly violations: string[] = [];
  /** Users and authentication. */
  readonly users: EtcdModelUsers = new EtcdModelUsers((endpoint) => this.#reach(endpoint));
  /** Changes of keys by revision, and transactions. */
  readonly revisions: EtcdModelRevisions = new EtcdModelRevisions((endpoint) => this.#reach(endpoint));
  /** Members that were defragmented, in order. */
  readonly defragmented: string[] = [];
  #host: Host | undefined;
  readonly #groups = new Map<string, QuorumGroup>();
  /** Running processes by pod address, from their first moment on. */
  readonly #processes = new Map<string, EtcdMember>();
  /** Members that talk to peers, by host name. */
  readonly #byHost = new Map<string, EtcdMember>();
  readonly #clusterIds = new Map<string, string>();
  readonly #forgiven = new Set<string>();
  /** The last process of each member that has ever had data, by its ID. */
  readonly #lives = new Map<string, EtcdMember>();
  readonly #forced: string[] = [];
  /** IDs of clusters that began with a snapshot, beside the one from before. */
  readonly #restored = new Set<string>();
  readonly #delays = new MemberDelays();
  #surprisedMs = -Infinity;
  /** Whether an actor may stop all members, as a restore in place does. */
  mayStopAll = false;

  /** Members that went on alone from a cluster of several, in order. */
  get forced(): readonly string[] {
    return this.#forced;
  }

  attach(host: Host): void {
    this.#host = host;
  }

  /** The users of each cluster that has a leader. What its keys are depends on who wrote last. */
  data(): Readonly<Record<string, unknown>> {
    const leaders = [...this.#groups.values()].flatMap(({ leader }) => (leader === undefined ? [] : [leader.data]));
    return {
      etcd: leaders.map(({ auth: { enabled, users } }) => ({
        authentication: enabled,
        users: Object.entries(users).map(([name, { rights }]) => ({ name, rights })),
      })),
    };
  }

  forgive(podName?: string): void {
    const names = podName === undefined ? [...this.#processes.values()].map(({ launch }) => launch.podName) : [podName];
    for (const name of names) this.#forgiven.add(name);
  }

  surprised(): void {
    this.#surprisedMs = this.#hostOrThrow().clock.monotonic();
  }

  /** A majority of the voters has lost its data: no election can succeed again. */
  get beyondRepair(): BeyondRepair | undefined {
    for (const clusterId of this.#groups.keys()) {
      const all = [...this.#lives.values()].filter(({ data }) => data.clusterId === clusterId);
      const newest = all.reduce<EtcdData | undefined>(
        (best, { data }) => (best === undefined || data.isUpToDate(best) ? data : best),
        undefined,
      );
      if (newest === undefined) continue;
      const { voters, quorum } = newest;
      const lost = voters.filter(({ id, name }) => name !== "" && this.#lives.get(id)?.isKept !== true);
      if (voters.length - lost.length >= quorum) continue;
      const names = lost.map(({ name }) => name).join(", ");
      return { sentence: `the data of ${names} are gone, of ${voters.length} voters`, membersLost: lost.length };
    }
    return undefined;
  }

  runs(image: string): boolean {
    return etcdVersionOf(image) !== undefined;
  }

  start(launch: Launch): Program {
    if (launch.command[1] === "snapshot") return restoreSnapshot(launch, (clusterId) => this.#restored.add(clusterId));
    const options = parseEtcdArguments(launch.command);
    const network: EtcdNetwork = {
      at: (peerUrl) => this.#byHost.get(hostOf(peerUrl)),
      group: (clusterId) => this.#group(clusterId),
      started: (member) => this.#started(member, options.token),
      ended: (member) => this.#ended(member),
      stopping: (member, sentence) => this.#stopping(member, sentence),
      forced: (member) => this.#forcedAlone(member),
    };
    const member = new EtcdMember(launch, { version: etcdVersionOf(launch.image) ?? "", arguments: options, network });
    this.#processes.set(launch.podIp, member);
    return member;
  }

  /** The name of the member that leads the cluster with these peers; undefined without a leader. */
  leader(cluster: string): string | undefined {
    return this.members(cluster).find((member) => member.group?.leader === member)?.name;
  }

  /** The running members of a cluster, by the first part of its members' names. */
  members(cluster: string): readonly EtcdMember[] {
    return [...this.#processes.values()].filter(
      (member) => member.name.startsWith(`${cluster}-`) && member.group !== undefined,
    );
  }

  /** A member has the alarm CORRUPT, or a person ends it: until then all members refuse writes. */
  setCorrupt(name: string, isOn: boolean): void {
    const member = [...this.#processes.values()].find((each) => each.name === name);
    if (member === undefined) throw new Error(`Cannot set the alarm of member "${name}": it does not run`);
    const { group } = leading(member);
    group.propose({ kind: "corrupt", id: member.data.memberId, isOn });
    for (const each of this.#membersOf(group)) each.probed();
  }

  /** Makes a member's process hang: it does not end, and answers no request any more. */
  hang(name: string): void {
    const member = [...this.#processes.values()].find((each) => each.name === name);
    if (member === undefined) throw new Error(`Cannot make member "${name}" hang: it does not run`);
    member.hang();
  }

  /** Later releases report it, once authentication is on, only to a login that they accept. */
  async status(endpoint: string, login?: SimulatedLogin): Promise<SimulatedMemberStatus> {
    await this.#travel();
    const { data, version, group } = this.#at(endpoint);
    if (data.auth.enabled && asksBeforeStatus(version)) await this.users.enter(endpoint, login);
    return {
      memberId: data.memberId,
      clusterId: data.clusterId,
      version,
      leaderId: group?.knownLeaderId ?? "",
      learner: data.members.get(data.memberId)?.isLearner ?? false,
      raftIndex: data.index,
      revision: data.revision,
      dbSize: data.fileBytes,
      dbSizeInUse: data.historyBytes,
      errors: [
        ...[...data.alarms].map((id) => `memberID:${id} alarm:NOSPACE `),
        ...[...data.corrupt].map((id) => `memberID:${BigInt(`0x${id}`)} alarm:CORRUPT `),
      ],
    };
  }

  /** What the metrics say, which a member serves from its start, also without a leader. */
  async position(endpoint: string): Promise<Pick<SimulatedMemberStatus, "raftIndex" | "revision">> {
    await this.#travel();
    const member = this.#processes.get(hostOf(endpoint));
    if (member?.hasData !== true) throw new Error(`connect ECONNREFUSED ${endpoint}`);
    return { raftIndex: member.data.index, revision: member.data.revision };
  }

  /** As the quorum agrees on it. */
  async memberList(
    endpoint: string,
  ): Promise<{ readonly clusterId: string; readonly members: readonly MemberRecord[] }> {
    const { data } = await this.#reach(endpoint);
    if (data.corrupt.size > 0) throw refusal(`${endpoint} cannot reach a quorum`);
    return { clusterId: data.clusterId, members: [...data.members.values()] };
  }

  async addLearner(endpoint: string, peerUrl: string): Promise<void> {
    await this.#travel();
    const member = this.#at(endpoint);
    const { data, group } = leading(member);
    const now = this.#hostOrThrow().clock.monotonic();
    if (data.voters.some(({ id }) => !isConnected(group, member, id, now)))
      throw refusal("etcdserver: unhealthy cluster");
    const members = [...data.members.values()];
    if (members.some((each) => each.peerUrl === peerUrl)) throw refusal("etcdserver: Peer URLs already exists");
    if (members.filter((each) => each.isLearner).length >= learnersMax)
      throw refusal("etcdserver: too many learner members in cluster");
    group.propose({ kind: "add", member: { id: idOf(peerUrl, String(now)), name: "", peerUrl, isLearner: true } });
  }

  async promote(endpoint: string, id: string): Promise<void> {
    const { data, group } = await this.#reach(endpoint);
    const record = recordOf(data, id);
    if (!record.isLearner) throw refusal("etcdserver: can only promote a learner member");
    if (data.startedVoters + 1 < data.quorum)
      throw refusal("etcdserver: re-configuration failed due to not enough started members");
    const learner = group.peer(id);
    if (learner === undefined || learner.data.index < data.index * inSyncRatio)
      throw refusal("etcdserver: can only promote a learner member which is in sync with leader");
    group.propose({ kind: "promote", id });
  }

  async remove(endpoint: string, id: string): Promise<void> {
    await this.#travel();
    const member = this.#at(endpoint);
    const { data, group } = leading(member);
    if (!recordOf(data, id).isLearner) this.#mayRemove(member, data, group, id);
    group.propose({ kind: "remove", id });
  }

  async moveLeader(endpoint: string, targetId: string): Promise<void> {
    await this.#travel();
    const member = this.#at(endpoint);
    const { data, group } = leading(member);
    if (group.leader !== member) throw refusal("etcdserver: not leader");
    const target = group.peer(targetId);
    if (target === undefined || recordOf(data, targetId).isLearner) throw refusal("etcdserver: bad leader transferee");
    group.transfer(target);
  }

  /** Resolves when the write is committed and answered. Without a value the key is deleted. */
  async put(endpoint: string, key: string, value: string | undefined): Promise<void> {
    await this.#travel();
    const member = this.#at(endpoint);
    const { data, group } = leading(member);
    if (data.corrupt.size > 0) throw refusal("etcdserver: corrupt cluster");
    if (data.alarms.size > 0) throw refusal(noSpace);
    group.propose({ kind: "put", key, value });
    // As etcd does: the write that fills the quota is the last one.
    for (const each of this.#membersOf(group))
      if (each.data.fileBytes > each.quotaBytes) group.propose({ kind: "alarm", id: each.data.memberId });
    await this.#travel();
    if (!member.isServing) throw new Error(`the connection to ${endpoint} broke`);
  }

  /** From now on each write of the member's log takes so long to reach its disk. */
  slowDisk(name: string, milliseconds: number): void {
    this.#delays.slowDisk(name, milliseconds);
  }

  /**
   * From now on a round trip to or from this member takes so long, or longer when its peer is farther away.
   */
  farAway(name: string, milliseconds: number): void {
    this.#delays.farAway(name, milliseconds);
  }

  /**
   * The writes of its log and the probes of its peers since the start of its process, as its metrics count
   * them.
   */
  measure(endpoint: string): SimulatedMeasurements {
    const member = this.#processes.get(hostOf(endpoint));
    if (member?.hasData !== true) throw new Error(`connect ECONNREFUSED ${endpoint}`);
    const { group } = member;
    const peers = group === undefined ? [] : this.#membersOf(group).filter((each) => each !== member);
    return this.#delays.measure(member, peers, this.#hostOrThrow().clock.monotonic());
  }

  async compact(endpoint: string): Promise<void> {
    (await this.#reach(endpoint)).group.propose({ kind: "compact" });
  }

  /** Works on the member that is asked, and on no other. */
  async defragment(endpoint: string): Promise<void> {
    await this.#travel();
    const { data, name } = this.#at(endpoint);
    data.defragment();
    this.defragmented.push(name);
  }

  async disarm(endpoint: string): Promise<void> {
    (await this.#reach(endpoint)).group.propose({ kind: "disarm" });
  }

  /** What an agent gets from the first endpoint that answers. */
  snapshot(endpoints: readonly string[]): SimulatedSnapshot {
    const hosts = endpoints.map(hostOf);
    const member = hosts
      .map((host) => this.#byHost.get(host) ?? this.#processes.get(host))
      .find((each) => each?.isServing);
    if (member === undefined) throw new Error(`no member answers at ${endpoints.join(", ")}`);
    const { data } = leading(member);
    return { data: snapshotText(data), position: String(data.revision), engineVersion: member.version };
  }

  /** What a linearizable read of all keys shows. */
  async keys(endpoint: string): Promise<ReadonlyMap<string, string>> {
    return new Map((await this.#reach(endpoint)).data.keys);
  }

  #membersOf(group: QuorumGroup): readonly EtcdMember[] {
    return [...this.#processes.values()].filter((member) => member.group === group);
  }

  #mayRemove(asked: EtcdMember, data: EtcdData, group: QuorumGroup, id: string): void {
    const now = this.#hostOrThrow().clock.monotonic();
    const others = data.voters.filter((each) => each.id !== id);
    const started = others.filter((each) => each.name !== "").length;
    if (others.length === 0 || started < Math.floor(others.length / 2) + 1)
      throw refusal("etcdserver: re-configuration failed due to not enough started members");
    // One that is down is no part of the active quorum.
    if (group.peer(id) === undefined) return;
    const connected = data.voters.filter((each) => isConnected(group, asked, each.id, now)).length;
    if (connected - 1 < 1 + Math.floor((data.voters.length - 1) / 2)) throw refusal("etcdserver: unhealthy cluster");
  }

  /** The member that answers at an endpoint. */
  #at(endpoint: string): EtcdMember {
    const host = hostOf(endpoint);
    const member = this.#processes.get(host) ?? this.#byHost.get(host);
    if (member?.isServing !== true) throw new Error(`connect ECONNREFUSED ${endpoint}`);
    return member;
  }

  /** What a member that can reach a quorum sees. */
  async #reach(endpoint: string): Promise<ReturnType<typeof leading>> {
    await this.#travel();
    return leading(this.#at(endpoint));
  }

  #travel(): Promise<void> {
    const { clock, random } = this.#hostOrThrow();
    return sleep(clock, random.int(latencyMsMax));
  }

  #hostOrThrow(): Host {
    if (this.#host === undefined)
      throw new Error("Cannot use the model of etcd: it is not part of a world yet; pass it as `models` to simulate");
    return this.#host;
  }

  #group(clusterId: string): QuorumGroup {
    const known = this.#groups.get(clusterId);
    if (known !== undefined) return known;
    const group = new QuorumGroup(this.#hostOrThrow());
    this.#groups.set(clusterId, group);
    return group;
  }

  #started(member: EtcdMember, token: string): void {
    for (const name of member.launch.hostNames) this.#byHost.set(name, member);
    const { clusterId, memberId } = member.data;
    this.#lives.set(memberId, member);
    const known = this.#clusterIds.get(token);
    if (known !== undefined && known !== clusterId && !this.#restored.has(known) && !this.#restored.has(clusterId))
      this.violations.push(`${member.name} started a second cluster: ${clusterId} beside ${known}`);
    this.#clusterIds.set(token, known ?? clusterId);
  }

  #stopping({ launch }: EtcdMember, violation: string | undefined): void {
    const isForgiven = this.#forgiven.delete(launch.podName);
    const isSurprise = this.#hostOrThrow().clock.monotonic() - this.#surprisedMs < momentMs;
    if (violation !== undefined && !this.mayStopAll && !isForgiven && !isSurprise) this.violations.push(violation);
  }

  /**
   * Two halves that both serve are worse than a cluster that waits; and the one that goes on must have the
   * most.
   */
  #forcedAlone(member: EtcdMember): void {
    const { data, name } = member;
    const others = [...this.#lives.values()].filter(
      (each) => each !== member && each.data.clusterId === data.clusterId,
    );
    for (const other of others)
      if (other.group !== undefined) this.violations.push(`${name} goes on alone while ${other.name} runs`);
    if (data.voters.length === 1 && data.isVoter(data.memberId)) return;
    this.#forced.push(name);
  }

  #ended(member: EtcdMember): void {
    if (this.#processes.get(member.launch.podIp) === member) this.#processes.delete(member.launch.podIp);
    for (const name of member.launch.hostNames) if (this.#byHost.get(name) === member) this.#byHost.delete(name);
  }
}

/** The leader's data and group, as a member that can reach a quorum sees it. */
function leading(member: EtcdMember): { readonly data: EtcdData; readonly group: QuorumGroup } {
  const { group } = member;
  if (group?.leader === undefined || !group.hasQuorum) throw refusal(requestTimedOut);
  return { data: group.leader.data, group };
}

function recordOf(data: EtcdData, id: string): MemberRecord {
  const record = data.members.get(id);
  if (record === undefined) throw refusal("etcdserver: member not found");
  return record;
}

/** Whether the asked member and this one have been connected for long enough. */
function isConnected(group: QuorumGroup, asked: EtcdMember, id: string, nowMs: number): boolean {
  if (asked.data.memberId === id) return true;
  const peer = group.peer(id);
  return peer !== undefined && nowMs - Math.max(peer.connectedSinceMs, asked.connectedSinceMs) >= healthIntervalMs;
}
