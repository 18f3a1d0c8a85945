import { Lease, Node } from "@setpoint/api";
import { isAlreadyExists } from "@setpoint/apimachinery";
import type { Client, Stored } from "@setpoint/client";
import { type Clock, type Logger, microTimestamp, type Timer, timestamp } from "@setpoint/host";
import { findObject } from "../cluster/find-object.ts";
import {
  buildLease,
  buildNode,
  leaseNamespace,
  type NodeFacts,
  type NodeHealth,
  nodeLabels,
  nodeStatus,
} from "./node-object.ts";

export interface NodeRegistrationOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly facts: NodeFacts;
  /**
   * The cluster had marked this node as not ready, and its pods with it: their status has to be written
   * again.
   */
  readonly onReturn?: () => void;
}

export const readyMessage = "kubelet is posting ready status";
export const leaseRenewMs = 10_000;
/** An unchanged status is written this often. */
const statusMs = 300_000;
const retryMs = 1_000;

/** Creates the Node object, renews its Lease and reports its status. */
export class NodeRegistration implements AsyncDisposable {
  readonly #options: NodeRegistrationOptions;
  #health: NodeHealth = {
    ready: true,
    message: readyMessage,
    hasDiskPressure: false,
  };
  #uid = "";
  #statusAtMs = Number.NEGATIVE_INFINITY;
  #timer: Timer | undefined;
  #pass: Promise<void> | undefined;
  #stopped = false;
  #isHandedOver = false;

  constructor(options: NodeRegistrationOptions) {
    this.#options = options;
  }

  /** Creates or adopts the Node; throws when the API refuses. */
  async register(): Promise<void> {
    await this.#ensureNode();
    await this.#renew();
    this.#schedule(leaseRenewMs);
  }

  /** Writes the status at once when it changes. Fields that are absent keep their value. */
  setHealth(change: Partial<NodeHealth>): void {
    const health = { ...this.#health, ...change };
    const keys = ["ready", "message", "hasDiskPressure"] as const;
    if (keys.every((key) => health[key] === this.#health[key])) return;
    this.#health = health;
    this.#statusAtMs = Number.NEGATIVE_INFINITY;
    this.#schedule(0);
  }

  /** Another agent keeps the node, so its status stays Ready. */
  handOver(): void {
    this.#isHandedOver = true;
  }

  /** Reports that the node stops, so that the cluster does not wait for its Lease to expire. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    if (this.#isHandedOver) return;
    await this.#pass;
    this.#health = { ready: false, message: "node agent is shutting down" };
    await this.#writeStatus().catch(() => {});
  }

  #schedule(delayMs: number): void {
    this.#timer?.cancel();
    if (this.#stopped) return;
    this.#timer = this.#options.clock.setTimer(() => {
      this.#pass = this.#renew().then(
        () => this.#schedule(leaseRenewMs),
        (error: unknown) => {
          this.#options.log.warn("Could not renew node lease", { error });
          this.#schedule(retryMs);
        },
      );
    }, delayMs);
  }

  async #renew(): Promise<void> {
    const { client, clock, facts } = this.#options;
    const renewTime = microTimestamp(clock);
    const key = { namespace: leaseNamespace, name: facts.name };
    if ((await findObject(client, Lease, key)) === undefined) {
      // The Node is new, or it was deleted and its Lease with it.
      await this.#ensureNode();
      await client.create(Lease, buildLease(facts.name, this.#uid, renewTime));
    } else await client.patch(Lease, key, { spec: { renewTime, holderIdentity: facts.name } });
    const isAsReported = await this.#isAsReported();
    if (clock.monotonic() - this.#statusAtMs >= statusMs || !isAsReported) await this.#writeStatus();
    if (!isAsReported) this.#options.onReturn?.();
  }

  /**
   * Whether the Node still shows what this agent reported. The node lifecycle controller overwrites it after
   * a missed heartbeat.
   */
  async #isAsReported(): Promise<boolean> {
    const node: Stored<Node> = await this.#options.client.get(Node, { name: this.#options.facts.name });
    const ready = node.status?.conditions?.find((each) => each.type === "Ready");
    return ready?.status === (this.#health.ready ? "True" : "False");
  }

  async #ensureNode(): Promise<void> {
    const { client, facts } = this.#options;
    try {
      this.#uid = (await client.create(Node, buildNode(facts))).metadata.uid;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const node = await client.patch(Node, { name: facts.name }, { metadata: { labels: nodeLabels(facts) } });
      this.#uid = node.metadata.uid;
    }
    await this.#writeStatus();
  }

  async #writeStatus(): Promise<void> {
    const { client, clock, facts } = this.#options;
    const key = { name: facts.name };
    const node = await client.get(Node, key);
    const status = nodeStatus(facts, this.#health, node.status?.conditions ?? [], timestamp(clock));
    await client.patch(Node, key, { status }, { subresource: "status" });
    this.#statusAtMs = clock.monotonic();
  }
}
