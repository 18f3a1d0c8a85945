/** How a node lets the control plane know that it is there, in worlds whose controllers must find out. */
import { Lease, Node } from "@setpoint/api";
import { isNotFound } from "@setpoint/apimachinery";
import type { Client, Stored } from "@setpoint/client";
import { type Clock, microTimestamp, type Timer } from "@setpoint/host";

/** As a kubelet with the configuration of a default cluster. */
const renewMs = 10_000;
const leaseDurationSeconds = 40;
const namespace = "kube-node-lease";

export interface NodeHeartbeatOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly node: string;
  /** The Node, as the kubelet's cache shows it. */
  readonly seen: () => Stored<Node> | undefined;
  /** Called after the Node shows the node as ready again: the status of its pods may be overwritten, too. */
  readonly returned: () => void;
}

/**
 * Renews the Lease of a node, and says again that the node is ready when the Node says something else; until
 * the node fails.
 */
export class NodeHeartbeat {
  readonly #options: NodeHeartbeatOptions;
  #timer: Timer | undefined;

  constructor(options: NodeHeartbeatOptions) {
    this.#options = options;
  }

  /** The node is there (again). Resolves after its first sign of life. */
  async start(): Promise<void> {
    this.#timer?.cancel();
    // A beat that fails is made up for by the next one.
    this.#timer = this.#options.clock.setTimer(() => void this.start().catch(() => {}), renewMs);
    await this.#renew();
    await this.#report();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  async #renew(): Promise<void> {
    const { client, clock, node } = this.#options;
    const spec = { holderIdentity: node, leaseDurationSeconds, renewTime: microTimestamp(clock) };
    try {
      await client.patch(Lease, { namespace, name: node }, { spec });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      await client.create(Lease, Lease({ namespace, name: node, spec }));
    }
  }

  async #report(): Promise<void> {
    const { client, node: name, seen, returned } = this.#options;
    const node = seen();
    const ready = node?.status?.conditions?.find(({ type }) => type === "Ready");
    if (this.#timer === undefined || node === undefined || ready?.status === "True") return;
    const conditions = [{ type: "Ready", status: "True", reason: "KubeletReady", message: "simulated" }];
    const change = { metadata: { uid: node.metadata.uid }, status: { conditions } };
    await client.patch(Node, { name }, change, { subresource: "status" });
    returned();
  }
}
