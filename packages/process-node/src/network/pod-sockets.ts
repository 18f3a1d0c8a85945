/**
 * Connections to programs inside a pod's own network namespace. Each pod that is asked gets a helper process
 * there, which ends a while after the last connection.
 */
import type { Socket } from "node:net";
import type { Clock, Timer } from "@setpoint/host";
import { nodeError } from "../errors.ts";
import { identify, isAlive, type ProcessIdentity } from "../host/process-identity.ts";
import type { NetworkNamespace } from "./namespace-holder.ts";
import { NamespaceSockets } from "./namespace-sockets.ts";

/** A helper takes some 40 MB. */
const podsMax = 16;
/** A client that connects once mostly connects again. */
const idleMs = 10_000;

interface PodHelper {
  readonly sockets: NamespaceSockets;
  readonly holder: ProcessIdentity;
  open: number;
  idle: Timer | undefined;
}

/** Opens connections to the loopback address of pods. */
export class PodSockets implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #helpers = new Map<string, PodHelper>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Throws `ERR_NETWORK` when the pod is gone, or too many pods are asked at a time. */
  async connect(podUid: string, namespace: NetworkNamespace, port: number, signal?: AbortSignal): Promise<Socket> {
    const helper = this.#helperFor(podUid, namespace);
    helper.open++;
    helper.idle?.cancel();
    const closed = (): void => {
      if (--helper.open === 0) helper.idle = this.#clock.setTimer(() => void this.#end(podUid, helper), idleMs);
    };
    try {
      const socket = await helper.sockets.connect("127.0.0.1", port, signal);
      socket.once("close", closed);
      return socket;
    } catch (error) {
      closed();
      throw error;
    }
  }

  /** The pod is gone. */
  async forget(podUid: string): Promise<void> {
    const helper = this.#helpers.get(podUid);
    if (helper !== undefined) await this.#end(podUid, helper);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#helpers].map(([podUid, helper]) => this.#end(podUid, helper)));
  }

  #helperFor(podUid: string, namespace: NetworkNamespace): PodHelper {
    const known = this.#helpers.get(podUid);
    if (known?.holder.pid === namespace.holderPid && isAlive(known.holder)) return known;
    if (known !== undefined) void this.#end(podUid, known);
    const holder = identify(namespace.holderPid);
    if (holder === undefined) throw nodeError("ERR_NETWORK", "Cannot connect to the pod: its sandbox has ended");
    if (this.#helpers.size >= podsMax)
      throw nodeError("ERR_NETWORK", `Cannot connect to the pod: ports of ${podsMax} others are forwarded; end one`);
    const helper: PodHelper = { sockets: new NamespaceSockets(namespace), holder, open: 0, idle: undefined };
    this.#helpers.set(podUid, helper);
    return helper;
  }

  async #end(podUid: string, helper: PodHelper): Promise<void> {
    helper.idle?.cancel();
    if (this.#helpers.get(podUid) === helper) this.#helpers.delete(podUid);
    await helper.sockets[Symbol.asyncDispose]();
  }
}
