import type { Pod } from "@setpoint/api";
import { podHostname } from "../cluster/pod.ts";
import { hostNamespaces } from "../pod/host-access.ts";
import { podLimits } from "../pod/container-limits.ts";
import { podUser } from "../pod/container-security.ts";
import { kernelSettings } from "../pod/kernel-settings.ts";
import type { PodSandbox } from "../sandbox/container-runtime.ts";
import type { PodParts } from "./pod-parts.ts";

type SandboxParts = Pick<PodParts, "allowHost" | "log" | "network" | "nodeName" | "runtime">;

/** The sandbox of one pod and its network: creates both, notices when the sandbox ends, removes both. */
export class SandboxWorker {
  readonly #parts: SandboxParts;
  readonly #podUid: string;
  readonly #onNetworkFailed: (error: unknown) => void;
  #sandbox: PodSandbox | undefined;
  /** Containers are created while the network is attached; their programs start after that. */
  #attachment: { readonly holderPid: number; readonly done: Promise<void> } | undefined;

  constructor(parts: SandboxParts, podUid: string, onNetworkFailed: (error: unknown) => void) {
    this.#parts = parts;
    this.#podUid = podUid;
    this.#onNetworkFailed = onNetworkFailed;
  }

  get exists(): boolean {
    return this.#sandbox !== undefined;
  }

  /** Resolves when the pod has its network; undefined when none is being attached. */
  get networkReady(): Promise<void> | undefined {
    return this.#attachment?.done;
  }

  /** Whether the processes that held the namespaces have ended. */
  async isLost(): Promise<boolean> {
    return this.exists && (await this.#parts.runtime.adoptSandbox(this.#podUid)) === undefined;
  }

  /** The next `ensure` creates another sandbox. */
  forget(): void {
    this.#sandbox = undefined;
  }

  /**
   * Rejects when the sandbox cannot be created; a network that cannot be attached is reported to
   * `onNetworkFailed`.
   */
  async ensure(pod: Pod): Promise<PodSandbox> {
    const { allowHost, network, nodeName, runtime } = this.#parts;
    const isOnHost = pod.spec.hostNetwork === true;
    const networkOf = isOnHost ? network.nodeHolderPid : undefined;
    const host = allowHost === true ? hostNamespaces(pod.spec) : undefined;
    this.#sandbox ??= await runtime.createSandbox({
      podUid: this.#podUid,
      hostname: isOnHost ? nodeName : podHostname(pod),
      networkNamespace: network.kind === "namespace" && (!isOnHost || networkOf !== undefined),
      ...(networkOf === undefined ? {} : { networkOf }),
      ...(host === undefined ? {} : { host }),
      ...podUser(pod),
      limits: podLimits(pod),
      kernelSettings: kernelSettings(pod.spec),
    });
    if (!isOnHost) this.#attach(this.#sandbox.holderPid);
    return this.#sandbox;
  }

  async remove(): Promise<void> {
    const { log, network, runtime } = this.#parts;
    // An attachment under way would leave an interface behind.
    await this.#attachment?.done.catch(() => {});
    this.#attachment = undefined;
    // If this fails, the kernel removes the interface with its network namespace.
    await network
      .detach(this.#podUid)
      .catch((error: unknown) => log.warn("Could not detach pod from its network", { pod: this.#podUid, error }));
    await runtime.removeSandbox(this.#podUid);
    this.#sandbox = undefined;
  }

  /** Once for each holder, until it succeeds. */
  #attach(holderPid: number): void {
    if (this.#attachment?.holderPid === holderPid) return;
    const attachment = { holderPid, done: this.#parts.network.attach(this.#podUid, holderPid) };
    this.#attachment = attachment;
    attachment.done.catch((error: unknown) => {
      if (this.#attachment !== attachment) return;
      this.#attachment = undefined;
      this.#onNetworkFailed(error);
    });
  }
}
