/**
 * What the node lifecycle controller does with a node whose kubelet reports nothing, with the times of a
 * default cluster.
 */
import { Node, Pod } from "@setpoint/api";
import { isNotFound } from "@setpoint/apimachinery";
import type { Client, Stored } from "@setpoint/client";
import { sleep, type Clock } from "@setpoint/host";

/** node-monitor-grace-period of kube-controller-manager. */
const graceMs = 40_000;
/** How long pods tolerate a lost node by default: DefaultTolerationSeconds. */
const tolerationSecondsDefault = 300;
const retryMs = 1_000;

const unreachable = "node.kubernetes.io/unreachable";

/**
 * `off`: its processes died with it. `isolated`: they continue, and node and API server cannot reach each
 * other.
 */
export type OutageKind = "off" | "isolated";

export interface NodeOutageOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly node: string;
  /** The known pods that are bound to it. */
  readonly pods: () => readonly Stored<Pod>[];
}

/**
 * One outage of one node, as the control plane sees it: after a while it is unreachable, later the pods are
 * evicted.
 */
export class NodeOutage {
  readonly kind: OutageKind;
  readonly #options: NodeOutageOptions;
  readonly #over = new AbortController();

  constructor(kind: OutageKind, options: NodeOutageOptions) {
    this.kind = kind;
    this.#options = options;
    void this.#notice().catch(() => {});
  }

  /** The node is back: it reports itself as ready. */
  async end(): Promise<void> {
    this.#over.abort(new Error("the node is back"));
    await this.#persist(() => this.#writeCondition("True", "KubeletReady", "simulated"));
    await this.#persist(() => this.#options.client.patch(Node, this.#key, { spec: { taints: null } }));
  }

  get #key(): { readonly name: string } {
    return { name: this.#options.node };
  }

  async #notice(): Promise<void> {
    const { clock, client, pods } = this.#options;
    const { signal } = this.#over;
    await sleep(clock, graceMs, signal);
    await this.#persist(() =>
      this.#writeCondition("Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."),
    );
    const taints = [
      { key: unreachable, effect: "NoSchedule" },
      { key: unreachable, effect: "NoExecute" },
    ];
    await this.#persist(() => client.patch(Node, this.#key, { spec: { taints } }));
    for (const pod of pods()) {
      await this.#persist(() => this.#markNotReady(pod));
      void this.#evict(pod).catch(() => {});
    }
  }

  async #evict(pod: Stored<Pod>): Promise<void> {
    const toleration = pod.spec?.tolerations?.find(({ key }) => key === undefined || key === unreachable);
    // Without seconds the toleration has no end.
    if (toleration !== undefined && toleration.tolerationSeconds === undefined) return;
    await sleep(
      this.#options.clock,
      (toleration?.tolerationSeconds ?? tolerationSecondsDefault) * 1_000,
      this.#over.signal,
    );
    const { name, namespace = "", uid } = pod.metadata;
    await this.#persist(() => this.#options.client.delete(Pod, { name, namespace }, { preconditions: { uid } }));
  }

  async #markNotReady(pod: Stored<Pod>): Promise<void> {
    const { name, namespace = "", uid } = pod.metadata;
    const conditions = (pod.status?.conditions ?? []).map((each) =>
      each.type === "Ready" ? { ...each, status: "False" as const, reason: "NodeNotReady" } : each,
    );
    const change = { metadata: { uid }, status: { conditions } };
    await this.#options.client.patch(Pod, { name, namespace }, change, { subresource: "status" });
  }

  async #writeCondition(status: string, reason: string, message: string): Promise<void> {
    const change = { status: { conditions: [{ type: "Ready", status, reason, message }] } };
    await this.#options.client.patch(Node, this.#key, change, { subresource: "status" });
  }

  /** Retries until it is done, or its object is gone. */
  async #persist(send: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        return void (await send());
      } catch (error) {
        if (isNotFound(error) || !isPassing(error)) return;
        await sleep(this.#options.clock, retryMs);
      }
    }
  }
}

/** A write that was refused for good (another object has the name now) is not retried. */
function isPassing(error: unknown): boolean {
  return !(error instanceof Error && /uid/i.test(error.message));
}
