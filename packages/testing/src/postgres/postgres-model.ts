/**
 * A model of a primary with replicas for simulated nodes: logs, timelines, streaming with lag, promotion, divergence and rewinding,
 * as PostgreSQL has them. It knows every write that was acknowledged, and says when one is lost or two primaries took writes.
 */
import { type Host, sleep, stackless } from "@setpoint/host";
import type { Launch, Program, ProgramModel } from "../program-model.ts";
import { PostgresData } from "./postgres-data.ts";
import { PostgresInstance, type PostgresNetwork } from "./postgres-instance.ts";

/** A refusal of PostgreSQL, with its own words; anything else that is thrown means that nobody answers. */
export class PostgresRefusal extends Error {
  override readonly name = "PostgresRefusal";
}

/** What an instance answers to a status request. */
export interface SimulatedInstanceStatus {
  readonly systemId: string;
  readonly timeline: number;
  readonly lsn: number;
  readonly role: "primary" | "replica" | "fenced";
  readonly upstream: string | undefined;
  /** Of a replica: whether it has records that its upstream has not, so that it cannot go on. */
  readonly diverged: boolean;
}

interface Acknowledged {
  readonly value: string;
  readonly branch: string;
  readonly cluster: string;
  readonly atMs: number;
}

const latencyMsMax = 4;

/** Simulates PostgreSQL in pods, with replication and timelines, and records each violation of safety. */
export class PostgresModel implements ProgramModel {
  readonly #instances = new Map<string, PostgresInstance>();
  readonly #systemIds = new Map<string, string>();
  readonly #acknowledged: Acknowledged[] = [];
  readonly #broken: string[] = [];
  #host: Host | undefined;

  attach(host: Host): void {
    this.#host = host;
  }

  runs(image: string): boolean {
    return /(^|\/)postgres(ql)?(:|@|$)/.test(image);
  }

  start(launch: Launch): Program {
    const network: PostgresNetwork = {
      at: (address) => this.#find(address),
      started: (instance) => void this.#instances.set(launch.podIp, instance),
      ended: (instance) => {
        if (this.#instances.get(launch.podIp) === instance) this.#instances.delete(launch.podIp);
      },
    };
    return new PostgresInstance(launch, network);
  }

  /** Of rules that were broken for good. Writes that are lost are known when the test asks: see `lost`. */
  get violations(): readonly string[] {
    return this.#broken;
  }

  /** A running instance by the name of its pod, for faults: `network`, `kill()`, `loseDisk()`. */
  instance(podName: string): PostgresInstance {
    const found = [...this.#instances.values()].find(({ name }) => name === podName);
    if (found === undefined) throw new Error(`Cannot find instance "${podName}": it does not run`);
    return found;
  }

  /** Running instances of a cluster that accept writes, by the first part of their pods' names. */
  primaries(cluster: string): readonly PostgresInstance[] {
    return [...this.#instances.values()].filter((each) => each.isPrimary && clusterOf(each) === cluster);
  }

  /** Values that were acknowledged and are on no primary. */
  lost(cluster: string): readonly string[] {
    const kept = new Set(this.primaries(cluster).flatMap(({ data }) => data?.log.map(({ value }) => value) ?? []));
    return this.#acknowledged
      .filter((each) => each.cluster === cluster && !kept.has(each.value))
      .map(({ value }) => value);
  }

  acknowledgedCount(cluster: string): number {
    return this.#acknowledged.filter((each) => each.cluster === cluster).length;
  }

  status(address: string): Promise<SimulatedInstanceStatus> {
    return this.#asked(address, (instance) => {
      const data = dataOf(instance);
      const upstream = data.upstream === undefined ? undefined : this.#find(data.upstream)?.data;
      return {
        systemId: data.systemId,
        timeline: data.timeline,
        lsn: data.lsn,
        role: instance.isFenced ? "fenced" : data.upstream === undefined ? "primary" : "replica",
        upstream: data.upstream,
        diverged: upstream !== undefined && data.hasDivergedFrom(upstream),
      };
    });
  }

  /** initdb: a new, empty database. */
  initialize(address: string): Promise<void> {
    return this.#asked(address, (instance) => {
      if (instance.data !== undefined) throw new PostgresRefusal(`directory is not empty: ${instance.name}`);
      const systemId = this.#hostOrThrow().random.uuid();
      const cluster = clusterOf(instance);
      const known = this.#systemIds.get(cluster);
      if (known !== undefined)
        this.#broken.push(`${instance.name} was initialised: a second database ${systemId} beside ${known}`);
      this.#systemIds.set(cluster, known ?? systemId);
      instance.data = new PostgresData(systemId, `${instance.name}/1`);
    });
  }

  /** pg_basebackup: a copy that follows where it came from. */
  clone(address: string, from: string): Promise<void> {
    return this.#asked(address, (instance) => {
      if (instance.data !== undefined) throw new PostgresRefusal(`directory is not empty: ${instance.name}`);
      const copy = PostgresData.copyOf(dataOf(this.#reachable(from)));
      copy.upstream = from;
      instance.data = copy;
    });
  }

  /** Becomes a standby of another instance, with a restart if it was a primary. */
  follow(address: string, upstream: string): Promise<void> {
    return this.#asked(address, (instance) => {
      dataOf(instance);
      instance.follow(upstream);
    });
  }

  /** pg_rewind: drops what the other one has not, and follows it. */
  rewind(address: string, from: string): Promise<void> {
    return this.#asked(address, (instance) => {
      const data = dataOf(instance);
      const source = dataOf(this.#reachable(from));
      if (data.systemId !== source.systemId)
        throw new PostgresRefusal("source and target clusters are from different systems");
      if (instance.isPrimary) throw new PostgresRefusal("target server must be shut down cleanly");
      data.log = data.log.slice(0, data.commonLsn(source));
      instance.follow(from);
    });
  }

  /** A standby becomes a primary on a timeline of its own, with whatever it has received. */
  promote(address: string): Promise<void> {
    return this.#asked(address, (instance) => {
      const data = dataOf(instance);
      if (data.upstream === undefined) throw new PostgresRefusal("server is not in standby mode");
      data.timeline++;
      data.branch = `${instance.name}/${data.timeline}`;
      instance.follow(undefined);
    });
  }

  /** Takes no writes until `unfence`, also after a promotion; a fence does not outlive the process. */
  fence(address: string, isFenced = true): Promise<void> {
    return this.#asked(address, (instance) => {
      instance.isFenced = isFenced;
    });
  }

  /** How many standbys must have a record before its commit is acknowledged; 0: none. */
  setSynchronous(address: string, standbys: number): Promise<void> {
    return this.#asked(address, (instance) => {
      dataOf(instance).synchronous = standbys;
      instance.standbyAdvanced();
    });
  }

  /** Resolves when the commit is acknowledged. A rejection says nothing about whether it was done. */
  async write(address: string, value: string): Promise<void> {
    await this.#asked(address, async (instance) => {
      if (!instance.isPrimary) throw new PostgresRefusal("cannot execute INSERT in a read-only transaction");
      const data = dataOf(instance);
      const { branch } = data;
      data.log.push({ branch, value });
      await instance.acknowledged(data.lsn);
      this.#note({ value, branch, cluster: clusterOf(instance), atMs: this.#hostOrThrow().clock.monotonic() });
    });
  }

  #note(entry: Acknowledged): void {
    const earlier = this.#acknowledged.filter(({ cluster }) => cluster === entry.cluster);
    const last = earlier.at(-1);
    // The history moved from this branch to another one, and now an instance writes on the old one.
    if (last !== undefined && last.branch !== entry.branch && earlier.some(({ branch }) => branch === entry.branch))
      this.#broken.push(`two primaries took writes: ${entry.branch} after ${last.branch}`);
    this.#acknowledged.push(entry);
  }

  async #asked<T>(address: string, work: (instance: PostgresInstance) => T | Promise<T>): Promise<T> {
    const { clock, random } = this.#hostOrThrow();
    await sleep(clock, random.int(latencyMsMax));
    const instance = this.#find(address);
    if (instance === undefined) throw stackless(() => new Error(`connect ECONNREFUSED ${address}`));
    return instance.network.answer(clock, () => work(instance));
  }

  #reachable(address: string): PostgresInstance {
    const instance = this.#find(address);
    if (instance?.isReachable !== true) throw new PostgresRefusal(`could not connect to server: ${address}`);
    return instance;
  }

  /** By pod address or by one of the pod's names in DNS. */
  #find(address: string): PostgresInstance | undefined {
    const host = address.replace(/:\d+$/, "");
    const known = this.#instances.get(host);
    if (known !== undefined) return known;
    return [...this.#instances.values()].find(({ launch }) => launch.hostNames.includes(host));
  }

  #hostOrThrow(): Host {
    if (this.#host === undefined)
      throw new Error(
        "Cannot use the model of PostgreSQL: it is not part of a world yet; pass it as `models` to simulate",
      );
    return this.#host;
  }
}

function dataOf({ data, name }: PostgresInstance): PostgresData {
  if (data === undefined) throw new PostgresRefusal(`the database system of ${name} is not initialised`);
  return data;
}

/** `orders` of `orders-1`. */
function clusterOf({ name }: PostgresInstance): string {
  return name.replace(/-[^-]+$/, "");
}
