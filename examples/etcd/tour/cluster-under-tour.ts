/** What the tour sees of the cluster: Kubernetes by its API, etcd by its own. */
import { sleep } from "@setpoint/host";
import { Deployment, PersistentVolumeClaim, Pod, Secret, Service } from "setpoint/kinds";
import { messageOf, type KubeObject } from "@setpoint/apimachinery";
import type { Client } from "@setpoint/client";
import { systemClock } from "@setpoint/host/system";
import { EtcdCluster } from "@setpoint/etcd-operator";
import {
  type EtcdClient,
  etcdClient,
  type EtcdEndpoint,
  urlOf,
  type EtcdMember,
  type EtcdMemberStatus,
} from "./etcd-client.ts";

/** How long a read may take, with all attempts. */
const readMsMax = 15_000;
const answerMsMax = 2_000;
/** etcd compares passwords slowly, on purpose. */
const answerToLoginMsMax = 10_000;

export type MemberStatus = NonNullable<EtcdCluster["status"]>["members"][number];

/** Thrown when a step of the tour does not hold; the message says what was seen. */
export class TourError extends Error {
  override readonly name = "TourError";
}

/** The address at which the tour reaches a Service or pod with the address that its object names. */
export type AddressFromHere = (address: string) => string;

/**
 * The host reaches the Services and pods of `setpoint up` at mirrors of their addresses on its loopback
 * network. No other cluster has them.
 */
export const mirrorOnLoopback: AddressFromHere = (address) =>
  address.replace(/^10\.(?=(?:6[4-9]|7\d|9[6-9]|10\d|11[01])\.)/, "127.");

export class ClusterUnderTour {
  readonly client: Client;
  readonly name: string;
  readonly namespace: string;
  readonly operator: { readonly name: string; readonly namespace: string };
  readonly #addressFromHere: AddressFromHere;
  /** Why the latest question to a member had no answer. */
  #silence: string | undefined;

  constructor(
    client: Client,
    name: string,
    namespace: string,
    operator: { readonly name: string; readonly namespace: string },
    addressFromHere: AddressFromHere = mirrorOnLoopback,
  ) {
    this.client = client;
    this.name = name;
    this.namespace = namespace;
    this.operator = operator;
    this.#addressFromHere = addressFromHere;
  }

  /** Another EtcdCluster beside this one, that is reached in the same way. */
  beside(name: string): ClusterUnderTour {
    return new ClusterUnderTour(this.client, name, this.namespace, this.operator, this.#addressFromHere);
  }

  get selector(): string {
    return `etcd.setpoint.dev/cluster=${this.name}`;
  }

  get(): Promise<EtcdCluster> {
    return this.client.get(EtcdCluster, { name: this.name, namespace: this.namespace });
  }

  patch(spec: object): Promise<EtcdCluster> {
    return this.client.patch(EtcdCluster, { name: this.name, namespace: this.namespace }, { spec });
  }

  async members(): Promise<readonly MemberStatus[]> {
    return (await this.get()).status?.members ?? [];
  }

  async leader(): Promise<MemberStatus> {
    const leader = (await this.members()).find((member) => member.role === "Leader");
    if (leader === undefined) throw new TourError("the status names no leader");
    return leader;
  }

  async clientEndpoint(): Promise<EtcdEndpoint> {
    const service = await this.client.get(Service, { name: `${this.name}-client`, namespace: this.namespace });
    return this.endpointOf(service.spec?.clusterIP ?? "");
  }

  /**
   * How this machine reaches the Service or pod with this address: with the client Secret when the cluster
   * has TLS.
   */
  async endpointOf(address: string): Promise<EtcdEndpoint> {
    const { status } = await this.get();
    const reachable = this.#addressFromHere(address);
    if (status?.tls === undefined) return `http://${reachable}:2379`;
    const secret = await this.client.get(Secret, { name: status.tls.clientSecret, namespace: this.namespace });
    const file = (name: string): string => Buffer.from(secret.data?.[name] ?? "", "base64").toString();
    return {
      url: `https://${reachable}:2379`,
      serverName: `${this.name}-client.${this.namespace}.svc`,
      ...{ ca: file("ca.crt"), certificate: file("tls.crt"), key: file("tls.key") },
    };
  }

  /**
   * The value of a key, read through the client Service. A member that has just started may be in the Service
   * before its port is open, so a connection that fails is tried again for a few seconds.
   */
  async valueOf(key: string): Promise<string | undefined> {
    let value: string | undefined;
    await this.until(
      `a read of ${key}`,
      async () => {
        value = await askAs(await this.#login(), await this.clientEndpoint(), 5_000, (etcd) => etcd.get(key));
        return true;
      },
      readMsMax,
    );
    return value;
  }

  async pods(): Promise<readonly Pod[]> {
    return (await this.client.listAll(Pod, { namespace: this.namespace, labelSelector: this.selector })).items;
  }

  async leftovers(): Promise<readonly string[]> {
    const options = { namespace: this.namespace, labelSelector: this.selector };
    const kinds = [Pod, Service, PersistentVolumeClaim, Secret] as const;
    const lists = await Promise.all(kinds.map((kind) => this.client.listAll<KubeObject>(kind, options)));
    return lists.flatMap(({ items }, i) => items.map((item) => `${kinds[i]?.kind} ${item.metadata.name}`));
  }

  /** Whether nothing of the cluster is left; throws with what is, so that a wait can say it. */
  async hasNoLeftovers(): Promise<boolean> {
    const left = await this.leftovers();
    if (left.length > 0) throw new TourError(`${left.join(", ")} ${left.length === 1 ? "is" : "are"} still there`);
    return true;
  }

  /** A pod that is being stopped belongs to a member that has been removed or is about to leave. */
  async memberEndpoints(): Promise<readonly EtcdEndpoint[]> {
    const staying = (await this.pods()).filter((pod) => pod.metadata.deletionTimestamp === undefined);
    const addresses = staying.flatMap(({ status }) => (status?.podIP ? [status.podIP] : []));
    return Promise.all(addresses.map((address) => this.endpointOf(address)));
  }

  /** etcd's own list, from any member that answers. */
  async etcdMembers(): Promise<readonly EtcdMember[]> {
    for (const endpoint of await this.memberEndpoints()) {
      const members = await this.#ask(endpoint, (etcd) => etcd.members());
      if (members !== undefined) return members;
    }
    throw new TourError(`no member of etcd answers${this.#silenceText()}`);
  }

  async etcdStatuses(): Promise<readonly EtcdMemberStatus[]> {
    const answers = await Promise.all(
      (await this.memberEndpoints()).map((endpoint) => this.#ask(endpoint, (etcd) => etcd.status())),
    );
    return answers.filter((answer) => answer !== undefined);
  }

  /** Hashes of all members as of one revision that all of them have. */
  async hashes(): Promise<readonly string[]> {
    const revision = Math.min(...(await this.etcdStatuses()).map((status) => status.revision));
    const endpoints = await this.memberEndpoints();
    const hashes = await Promise.all(endpoints.map((endpoint) => this.#ask(endpoint, (etcd) => etcd.hash(revision))));
    return hashes.map((hash, i) => hash ?? `no answer from ${urlOf(endpoints[i] ?? "")}`);
  }

  async scaleOperator(replicas: number): Promise<void> {
    await this.client.patch(Deployment, this.operator, { spec: { replicas } });
  }

  /** Calls `holds` until it is true; throws after `withinMs`, with the status and the last error. */
  async until(what: string, holds: () => Promise<boolean>, withinMs = 60_000): Promise<number> {
    const startedMs = systemClock.monotonic();
    this.#silence = undefined;
    for (;;) {
      const outcome = await holds().catch(messageOf);
      const tookMs = systemClock.monotonic() - startedMs;
      if (outcome === true) return tookMs;
      if (tookMs > withinMs) {
        const last = typeof outcome === "string" ? `; the last attempt failed: ${outcome}` : this.#silenceText();
        throw new TourError(`${what} did not happen within ${withinMs / 1000} s; ${await this.#describe()}${last}`);
      }
      await sleep(systemClock, 100);
    }
  }

  /** The operator says that all is as wanted, with this many members of this version. */
  async isSettled(size: number, version?: string): Promise<boolean> {
    const { status, metadata } = await this.get();
    if (status === undefined || status.phase !== "Running" || status.observedGeneration !== metadata.generation)
      return false;
    if (version !== undefined && status.currentVersion !== version) return false;
    return status.members.length === size && status.readyMembers === size && status.waitingFor === undefined;
  }

  async #ask<T>(endpoint: EtcdEndpoint, question: (etcd: EtcdClient) => Promise<T>): Promise<T | undefined> {
    const login = await this.#login();
    try {
      return await askAs(login, endpoint, login === undefined ? answerMsMax : answerToLoginMsMax, question);
    } catch (error) {
      this.#silence = `${urlOf(endpoint)}: ${messageOf(error)}`;
      return undefined;
    }
  }

  #silenceText(): string {
    return this.#silence === undefined ? "" : `; the last question without an answer: ${this.#silence}`;
  }

  /** Of root, when the cluster asks for logins. */
  async #login(): Promise<{ readonly name: string; readonly password: string } | undefined> {
    const { status } = await this.get();
    if (status?.auth === undefined) return undefined;
    const root = await this.client.get(Secret, { name: status.auth.rootSecret, namespace: this.namespace });
    return { name: "root", password: Buffer.from(root.data?.["password"] ?? "", "base64").toString() };
  }

  async #describe(): Promise<string> {
    const status = (await this.get().catch(() => undefined))?.status;
    if (status === undefined) return "the EtcdCluster has no status";
    const members = status.members
      .map((each) => `${each.name} ${each.role}${each.healthy ? "" : " (unhealthy)"}`)
      .join(", ");
    return `phase ${status.phase}, members ${members}${status.waitingFor === undefined ? "" : `, waiting: ${status.waitingFor.what}`}`;
  }
}

/** Logs in first when there is a login. */
async function askAs<T>(
  login: { readonly name: string; readonly password: string } | undefined,
  endpoint: EtcdEndpoint,
  timeoutMs: number,
  question: (etcd: EtcdClient) => Promise<T>,
): Promise<T> {
  const etcd = etcdClient(endpoint, timeoutMs);
  try {
    if (login !== undefined) await etcd.logIn(login.name, login.password);
    return await question(etcd);
  } finally {
    etcd.close();
  }
}
