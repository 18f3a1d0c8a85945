/** One etcd process: how it starts, joins, serves and ends. */
import { hash } from "node:crypto";
import type { Timer } from "@setpoint/host";
import type { Launch, Program, SimulatedVolume } from "../program-model.ts";
import { type EtcdArguments, minorOf } from "./etcd-arguments.ts";
import { EtcdData } from "./etcd-data.ts";
import { LogWrites } from "./log-writes.ts";
import type { Peer, QuorumGroup } from "./quorum-group.ts";

/** What a process finds in the network. */
export interface EtcdNetwork {
  /** The running member behind a peer URL. */
  at(peerUrl: string): EtcdMember | undefined;
  group(clusterId: string): QuorumGroup;
  started(member: EtcdMember): void;
  ended(member: EtcdMember): void;
  /** A member received the signal to stop; `violation` says which rule that breaks. */
  stopping(member: EtcdMember, violation: string | undefined): void;
  /** A member makes itself the only one of its cluster. */
  forced(member: EtcdMember): void;
}

const bootMsMin = 50;
const bootMsMax = 200;
const stopMsMin = 30;
const stopMsMax = 300;
/** A leader without anybody to hand over to tries for so long. */
const lingerMs = 5_000;
const killedCode = 137;

/** A fatal message, and the code of the exit. */
class Fatal extends Error {}

/** One etcd process on its volume; it dies with its pod, and its data stays. */
export class EtcdMember implements Program, Peer {
  readonly version: string;
  readonly launch: Launch;
  readonly #arguments: EtcdArguments;
  readonly #network: EtcdNetwork;
  readonly #logWrites = new LogWrites();
  #data: EtcdData | undefined;
  #group: QuorumGroup | undefined;
  #joinedMs = 0;
  /** Client requests are served once a leader was known and the member has published itself. */
  #isServing = false;
  #isStopping = false;
  #isEnded = false;
  #isHanging = false;
  #timer: Timer | undefined;

  constructor(
    launch: Launch,
    options: { readonly version: string; readonly arguments: EtcdArguments; readonly network: EtcdNetwork },
  ) {
    this.launch = launch;
    this.version = options.version;
    this.#arguments = options.arguments;
    this.#network = options.network;
    this.#after(bootMsMin, bootMsMax, () => this.#boot());
  }

  get name(): string {
    return this.#arguments.name;
  }

  get data(): EtcdData {
    if (this.#data === undefined) throw new Error(`${this.name} has not opened its data yet`);
    return this.#data;
  }

  /** Metrics are served as soon as the data are open. */
  get hasData(): boolean {
    return this.#data !== undefined && !this.#isEnded && !this.#isHanging;
  }

  /** Undefined until it has data and looks for its peers. */
  get group(): QuorumGroup | undefined {
    return this.#group;
  }

  /** Whether what it knows is there still: in its process, or on its volume for the next one. */
  get isKept(): boolean {
    return !this.#isEnded || this.#volume.files.get(this.#arguments.dataDirectory) === this.#data;
  }

  /** The writes of its log, of which those since the last call took so long. */
  logWrites(milliseconds: number): ReturnType<LogWrites["upTo"]> {
    return this.#logWrites.upTo(this.data.index, milliseconds);
  }

  get quotaBytes(): number {
    return this.#arguments.quotaBytes;
  }

  get isServing(): boolean {
    return this.#isServing;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  get connectedSinceMs(): number {
    return this.#joinedMs;
  }

  terminate(): void {
    if (this.#isEnded || this.#isStopping) return;
    this.#isStopping = true;
    this.#timer?.cancel();
    this.#network.stopping(this, this.#lostQuorum());
    const group = this.#group;
    if (group?.leader !== this) return this.#after(stopMsMin, stopMsMax, () => this.#exit(0));
    const { heir } = group;
    if (heir !== undefined) group.transfer(heir);
    const [minMs, maxMs]: readonly [number, number] =
      heir === undefined ? [lingerMs, lingerMs + 1] : [stopMsMin, stopMsMax];
    this.#after(minMs, maxMs, () => this.#exit(0));
  }

  kill(): void {
    this.#exit(killedCode);
  }

  /** As SIGSTOP: the process is there and answers nobody, not even SIGTERM. */
  hang(): void {
    this.#isHanging = true;
    this.#isStopping = true;
    this.#isServing = false;
    this.#timer?.cancel();
    this.#group?.leave(this);
    this.launch.ready(false);
  }

  synced(): void {
    const { data } = this;
    const own = data.members.get(data.memberId);
    if (own?.name === "") this.#group?.propose({ kind: "publish", id: data.memberId, name: this.name });
    this.#isServing = true;
    this.launch.ready(data.corrupt.size === 0);
  }

  removed(): void {
    this.#group = undefined;
    this.#after(stopMsMin, stopMsMax, () => this.#exit(0, "the member has been permanently removed from the cluster"));
  }

  leaderChanged(): void {
    this.probed();
  }

  /** As its health check: it fails without a leader, and with the alarm CORRUPT of any member. */
  probed(): void {
    if (this.#isServing) this.launch.ready(this.#group?.knownLeaderId !== "" && this.data.corrupt.size === 0);
  }

  #after(minMs: number, maxMs: number, callback: () => void): void {
    const { clock, random } = this.launch.host;
    this.#timer = clock.setTimer(callback, minMs + random.int(maxMs - minMs));
  }

  #exit(code: number, message?: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#timer?.cancel();
    this.#isServing = false;
    this.#network.ended(this);
    this.#group?.leave(this);
    this.#group = undefined;
    this.launch.exited(code, message);
  }

  #boot(): void {
    try {
      this.#data = this.#open() ?? this.#initialize();
    } catch (error) {
      if (!(error instanceof Fatal)) throw error;
      return this.#exit(1, error.message);
    }
    this.#joinedMs = this.launch.host.clock.monotonic();
    this.#group = this.#network.group(this.#data.clusterId);
    this.#network.started(this);
    if (this.#arguments.isForced) {
      this.#network.forced(this);
      this.#data.goOnAlone();
    }
    this.#group.join(this);
  }

  get #volume(): SimulatedVolume {
    const { dataDirectory } = this.#arguments;
    const mount = [...this.launch.volumes].find(([path]) => dataDirectory.startsWith(`${path}/`));
    if (mount === undefined) throw new Fatal(`no volume is mounted above ${dataDirectory}`);
    return mount[1];
  }

  /** Data that is there decides alone; the options about the first start are ignored. */
  #open(): EtcdData | undefined {
    const data = this.#volume.files.get(this.#arguments.dataDirectory);
    if (!(data instanceof EtcdData)) return undefined;
    this.#checkVersion(data.clusterMinor);
    const isRemoved = this.#network.group(data.clusterId).peers.some((peer) => peer.data.removed.has(data.memberId));
    if (isRemoved) throw new Fatal("the member has been permanently removed from the cluster");
    return data;
  }

  #initialize(): EtcdData {
    const data = this.#arguments.isNew ? this.#bootstrap() : this.#joinExisting();
    this.#volume.files.set(this.#arguments.dataDirectory, data);
    return data;
  }

  /** All members of the first start compute the same IDs from the same options. */
  #bootstrap(): EtcdData {
    const { initialCluster, token, name } = this.#arguments;
    const ids = new Map([...initialCluster].map(([each, url]) => [each, idOf(url, token)]));
    const clusterId = idOf(...[...ids.values()].sort(), "cluster");
    const memberId = ids.get(name);
    if (memberId === undefined)
      throw new Fatal(`couldn't find local name "${name}" in the initial cluster configuration`);
    const peers = [...initialCluster.values()].flatMap((url) => this.#network.at(url) ?? []);
    const knows = peers.some(
      ({ data }) => data.clusterId === clusterId && (data.members.get(memberId)?.name ?? "") !== "",
    );
    if (knows) throw new Fatal(`member ${memberId} has already been bootstrapped`);
    const data = new EtcdData(clusterId, memberId);
    for (const [each, url] of initialCluster) {
      const id = ids.get(each) ?? "";
      data.apply({ kind: "add", member: { id, name: "", peerUrl: url, isLearner: false } }, 1);
    }
    return data;
  }

  /** Takes the membership from those that are there; the list of the options must be the same. */
  #joinExisting(): EtcdData {
    const { initialCluster, peerUrl } = this.#arguments;
    const peer = [...initialCluster.values()]
      .map((url) => this.#network.at(url))
      .find((each) => each?.group?.leader !== undefined);
    if (peer === undefined)
      throw new Fatal(
        "cannot fetch cluster info from peer urls: could not retrieve cluster information from the given URLs",
      );
    const { members, clusterId, clusterMinor } = peer.data;
    const urls = [...initialCluster.values()];
    if (members.size !== urls.length) throw new Fatal("error validating peerURLs: member count is unequal");
    const unmatched = [...members.values()].find((member) => !urls.includes(member.peerUrl));
    if (unmatched !== undefined)
      throw new Fatal(`error validating peerURLs: unmatched member while checking PeerURLs ("${unmatched.peerUrl}")`);
    const own = [...members.values()].find((member) => member.peerUrl === peerUrl);
    if (own === undefined) throw new Fatal("the member is not in the cluster");
    this.#checkVersion(clusterMinor);
    const data = new EtcdData(clusterId, own.id);
    data.members = new Map(members);
    return data;
  }

  #checkVersion(clusterMinor: number): void {
    if (minorOf(this.version) < clusterMinor)
      throw new Fatal(
        `cluster cannot be downgraded (current version: ${this.version} is lower than determined cluster version: 3.${clusterMinor})`,
      );
  }

  /** An actor decides to stop a member, unlike a crash: a majority must remain. */
  #lostQuorum(): string | undefined {
    const group = this.#group;
    if (group?.hasQuorum !== true || group.leader === undefined) return undefined;
    const { voters, quorum } = group.leader.data;
    const own = voters.some(({ id }) => id === this.data.memberId);
    const left = voters.filter(({ id }) => id !== this.data.memberId && group.peer(id)?.isStopping === false).length;
    if (!own || left >= quorum || voters.length === 1) return undefined;
    return `Stopping ${this.name} leaves ${left} of ${voters.length} voters, fewer than the quorum of ${quorum}`;
  }
}

/** An ID from texts, as etcd prints it: hexadecimal without leading zeros. */
export function idOf(...parts: readonly string[]): string {
  return hash("sha1", parts.join("\n")).slice(0, 16).replace(/^0+/, "");
}
