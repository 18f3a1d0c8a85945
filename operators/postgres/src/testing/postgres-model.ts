/**
 * A model of PostgreSQL for simulated nodes: instances with the genuine manager, their network, and the laws
 * that no run may break.
 */
import { type Host, sleep } from "@setpoint/host";
import type { BeyondRepair, Launch, Program, ProgramModel, SimulatedVolume } from "setpoint/testing";
import type { LeaseAnswer } from "../instance/instance-protocol.ts";
import { CommitLedger } from "./commit-ledger.ts";
import { SimulatedDisk } from "./simulated-disk.ts";
import { SimulatedInstance } from "./simulated-instance.ts";
import { type PostgresNetwork, type SimulatedServer, silentLinkMs } from "./simulated-server.ts";
import { paths } from "../manager/paths.ts";

/** The operator's image in worlds without transfers. */
export const simulatedImage = "operator.invalid/postgres:simulated";
/** As a party of the network: instances can be cut off from it, too. */
export const operatorParty = "operator";

/** What a caller notices: nothing until its deadline, or a refusal at once. */
export type CutLink = "silent" | "refused";

const answerMsMax = { operator: 2_000, peer: 900 };
const latencyMsMax = 4;
const installMs = 100;

const models = new WeakMap<Host, PostgresModel>();

/** The model of a world. */
export function modelOf(host: Host): PostgresModel {
  const found = models.get(host);
  if (found === undefined) throw new Error("Cannot find the model of PostgreSQL: this world has none");
  return found;
}

export class PostgresModel implements ProgramModel {
  readonly ledger = new CommitLedger();
  /** How each instance came to agree with its primary, in order. */
  readonly rejoined: string[] = [];
  #host: Host | undefined;
  #serials = 0;
  #systemIds = 0;
  readonly #instances = new Map<string, SimulatedInstance>();
  /** Volumes that have had an instance, by its name. */
  readonly #volumes = new Map<string, SimulatedVolume>();
  readonly #cut = new Map<string, CutLink>();
  readonly #lagMs = new Map<string, number>();
  readonly #network: PostgresNetwork = {
    serverAt: (from, host) => this.#serverAt(from, host),
    isConnected: (one, other) => this.isConnected(one, other),
    lagMsOf: (name) => this.#lagMs.get(name) ?? 0,
    nextSerial: () => ++this.#serials,
    acceptsCommits: (server, isPromoted) => this.ledger.takesOffice(server, this.servers, isPromoted),
    follows: (replica, sender) => this.ledger.follows(replica, sender),
  };

  attach(host: Host): void {
    this.#host = host;
    models.set(host, this);
  }

  get violations(): readonly string[] {
    return this.ledger.violations;
  }

  get instances(): readonly SimulatedInstance[] {
    return [...this.#instances.values()];
  }

  get servers(): readonly SimulatedServer[] {
    return this.instances.map(({ server }) => server);
  }

  /** No volume has data any more. */
  get beyondRepair(): BeyondRepair | undefined {
    const disks = [...this.#volumes.values()].map((volume) => new SimulatedDisk(volume));
    if (this.#systemIds === 0 || disks.some(({ data }) => data !== undefined)) return undefined;
    return { sentence: "no instance has its data any more", membersLost: disks.length };
  }

  runs(image: string): boolean {
    return image.startsWith("docker.io/library/postgres:") || image === simulatedImage;
  }

  start(launch: Launch): Program {
    if (launch.image === simulatedImage) return installed(launch);
    const instance = new SimulatedInstance(launch, {
      network: this.#network,
      askPeer: (from) => (peer, request) => this.#askPeer(from, peer.host, request),
      nextSystemId: () => String(7_000_000 + ++this.#systemIds),
      rejoined: (name, how) => void this.rejoined.push(`${name} ${how}`),
      ended: (each) => this.#ended(each),
    });
    this.#instances.set(instance.name, instance);
    const volume = launch.volumes.get(paths.volume);
    if (volume !== undefined) this.#volumes.set(instance.name, volume);
    return instance;
  }

  /** The server that accepts commits, of those that a client reaches. */
  primary(): SimulatedServer | undefined {
    return this.servers.find(({ acceptsCommits }) => acceptsCommits);
  }

  server(name: string): SimulatedServer {
    const found = this.#instances.get(name);
    if (found === undefined) throw new Error(`Cannot use the server of "${name}": no such instance runs`);
    return found.server;
  }

  /** Nobody reaches it from now on; or only these do not. */
  isolate(name: string, from?: readonly string[], how: CutLink = "silent"): void {
    const others = from ?? [operatorParty, ...this.#volumes.keys()];
    for (const other of others) if (other !== name) this.#cut.set(link(name, other), how);
    void this.#noticeSilence();
  }

  reconnect(): void {
    this.#cut.clear();
    for (const server of this.servers) if (server.upstream !== undefined) server.resumeLink();
  }

  isConnected(one: string, other: string): boolean {
    return !this.#cut.has(link(one, other));
  }

  /** The log takes so much longer to this instance. */
  slowLog(name: string, lagMs: number): void {
    this.#lagMs.set(name, lagMs);
  }

  /** What the operator asks the manager behind an address. */
  async ask<T>(address: string, what: (instance: SimulatedInstance) => Promise<T>): Promise<T> {
    await this.#travel();
    const ip = new URL(address).hostname;
    const instance = this.instances.find(({ launch }) => launch.podIp === ip);
    if (instance === undefined) throw new Error(`connect ECONNREFUSED ${address}`);
    await this.#pass(operatorParty, instance.name, answerMsMax.operator);
    const answer = await what(instance);
    await this.#travel();
    return answer;
  }

  async #askPeer(
    from: string,
    host: string,
    request: Parameters<SimulatedInstance["manager"]["answerLease"]>[0],
  ): Promise<LeaseAnswer> {
    await this.#travel();
    const peer = this.#instanceAt(host);
    if (peer === undefined) throw new Error(`connect ECONNREFUSED ${host}`);
    await this.#pass(from, peer.name, answerMsMax.peer);
    const answer = peer.manager.answerLease(request);
    await this.#travel();
    return answer;
  }

  #instanceAt(host: string): SimulatedInstance | undefined {
    return this.instances.find(({ launch }) => launch.hostNames.includes(host));
  }

  #serverAt(from: string, host: string): SimulatedServer | undefined {
    const found = this.#instanceAt(host);
    return found !== undefined && this.isConnected(from, found.name) ? found.server : undefined;
  }

  /** Both sides of a stream over a cut link give it up. */
  async #noticeSilence(): Promise<void> {
    await sleep(this.#hostOrThrow().clock, silentLinkMs);
    for (const server of this.servers) {
      const { upstream } = server;
      if (upstream === undefined || this.isConnected(server.name, upstream.name)) continue;
      upstream.dropLink(server);
      server.dropLink(upstream);
    }
  }

  async #pass(from: string, to: string, waitMs: number): Promise<void> {
    const how = this.#cut.get(link(from, to));
    if (how === "silent") await sleep(this.#hostOrThrow().clock, waitMs);
    if (how !== undefined) throw new Error(`${from} does not reach ${to}`);
  }

  #travel(): Promise<void> {
    const { clock, random } = this.#hostOrThrow();
    return sleep(clock, random.int(latencyMsMax));
  }

  #ended(instance: SimulatedInstance): void {
    if (this.#instances.get(instance.name) === instance) this.#instances.delete(instance.name);
  }

  #hostOrThrow(): Host {
    if (this.#host === undefined)
      throw new Error("Cannot use the model of PostgreSQL: it is not part of a world yet; pass it as `models`");
    return this.#host;
  }
}

/** What the operator's image does in a pod of an instance. */
function installed(launch: Launch): Program {
  const isArchiver = launch.command[0] === "archive";
  if (isArchiver) launch.ready(true);
  else launch.host.clock.setTimer(() => launch.exited(0), installMs);
  return { terminate: () => launch.exited(0), kill: () => launch.exited(137) };
}

function link(one: string, other: string): string {
  return [one, other].toSorted().join(" ");
}
