import { isAlreadyExists } from "@setpoint/apimachinery";
import { type Clock, type Logger, microTimestamp, type Timer, timestamp } from "@setpoint/host";
import type { ClusterApi } from "./cluster-api.ts";
import { leaseKind, nodeKind } from "./kinds.ts";
import {
  buildLease,
  buildNode,
  leaseNamespace,
  type NodeFacts,
  type NodeHealth,
  nodeLabels,
  type NodeObject,
  nodeStatus,
} from "./node-object.ts";

export interface NodeRegistrationOptions {
  readonly api: ClusterApi;
  readonly clock: Clock;
  readonly log: Logger;
  readonly facts: NodeFacts;
  /** The cluster had given up this node, and marked its pods: they have to be reported again. */
  readonly onReturn?: () => void;
}

export const readyMessage = "kubelet is posting ready status";
export const leaseRenewMs = 10_000;
/** A status that did not change is written this often all the same. */
const statusMs = 300_000;
const retryMs = 1_000;

/** Keeps the Node object and its lease: the cluster's knowledge that this node is there. */
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
  #isLeft = false;

  constructor(options: NodeRegistrationOptions) {
    this.#options = options;
  }

  /** Creates or adopts the Node; throws when the API refuses. */
  async register(): Promise<void> {
    await this.#ensureNode();
    await this.#renew();
    this.#schedule(leaseRenewMs);
  }

  /** Written at once when it differs; what is not given stays. */
  setHealth(change: Partial<NodeHealth>): void {
    const health = { ...this.#health, ...change };
    const keys = ["ready", "message", "hasDiskPressure"] as const;
    if (keys.every((key) => health[key] === this.#health[key])) return;
    this.#health = health;
    this.#statusAtMs = Number.NEGATIVE_INFINITY;
    this.#schedule(0);
  }

  /** Another agent keeps the node: disposing says nothing about it. */
  leave(): void {
    this.#isLeft = true;
  }

  /** Says that the node ends, so that nobody waits for its lease to run out. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    if (this.#isLeft) return;
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
          this.#options.log.warn("Node lease could not be renewed", { error });
          this.#schedule(retryMs);
        },
      );
    }, delayMs);
  }

  async #renew(): Promise<void> {
    const { api, clock, facts } = this.#options;
    const renewTime = microTimestamp(clock);
    const lease = buildLease(facts.name, this.#uid, renewTime);
    const key = { namespace: leaseNamespace, name: facts.name };
    if ((await api.find(leaseKind, key)) === undefined) {
      // Somebody deleted the Node, or it is new: a Node that is gone is made again.
      await this.#ensureNode();
      await api.create(leaseKind, {
        ...lease,
        metadata: {
          ...lease.metadata,
          ownerReferences: [{ apiVersion: "v1", kind: "Node", name: facts.name, uid: this.#uid }],
        },
      });
    } else await api.patch(leaseKind, key, { spec: { renewTime, holderIdentity: facts.name } });
    const isAsReported = await this.#isAsReported();
    if (clock.monotonic() - this.#statusAtMs >= statusMs || !isAsReported) await this.#writeStatus();
    if (!isAsReported) this.#options.onReturn?.();
  }

  /** Whether the Node still says what this agent reported; somebody who missed a heartbeat may have written otherwise. */
  async #isAsReported(): Promise<boolean> {
    const node: NodeObject = await this.#options.api.get(nodeKind, { name: this.#options.facts.name });
    const ready = node.status?.conditions?.find((each) => each.type === "Ready");
    return ready?.status === (this.#health.ready ? "True" : "False");
  }

  async #ensureNode(): Promise<void> {
    const { api, facts } = this.#options;
    try {
      this.#uid = (await api.create(nodeKind, buildNode(facts))).metadata.uid ?? "";
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const node = await api.patch(nodeKind, { name: facts.name }, { metadata: { labels: nodeLabels(facts) } });
      this.#uid = node.metadata.uid ?? "";
    }
    await this.#writeStatus();
  }

  async #writeStatus(): Promise<void> {
    const { api, clock, facts } = this.#options;
    const key = { name: facts.name };
    const node: NodeObject = await api.get(nodeKind, key);
    const status = nodeStatus(facts, this.#health, node.status?.conditions ?? [], timestamp(clock));
    await api.patch(nodeKind, key, { status }, "status");
    this.#statusAtMs = clock.monotonic();
  }
}
