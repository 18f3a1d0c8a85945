import type { Transport } from "@setpoint/apimachinery";
import type { Host } from "@setpoint/host";
import type { ImageSource, UndescribedImage } from "../images/image.ts";
import type { PodNetworkOptions } from "../network/node-network.ts";
import type { ImageProgress } from "../images/image-store.ts";

/** What a node needs, and where it keeps its files. */
export interface NodeOptions {
  readonly name: string;
  /** To the API server, as `system:node:NAME`. */
  readonly transport: Transport;
  readonly host: Host;
  /** Holds pods, logs, volumes and addresses; one agent at a time uses it. */
  readonly directory: string;
  /** The image cache; nodes may share it. Default: `images` in the directory. */
  readonly imageCache?: string;
  /** The certificate authority of the clients of the kubelet server, PEM. */
  readonly caPem: string;
  /** The node's serving certificate, PEM. */
  readonly tls: { readonly cert: string; readonly key: string };
  /** Images of files of this host, by the name that manifests use. */
  readonly localImages?: Readonly<Record<string, ImageSource>>;
  /** Images of this release that are made when a pod first needs them. */
  readonly ownImages?: Readonly<Record<string, UndescribedImage>>;
  /** Debian mirror; default: that of the host's apt sources. */
  readonly mirror?: string;
  /** For images of registries; absent: no registry is asked. */
  readonly fetch?: typeof globalThis.fetch;
  readonly podCidr?: string;
  /** Whether pods may have rights over the host (`privileged`, `hostPath`, …); default: no. */
  readonly allowHost?: boolean;
  /** The network namespace of the cluster. Absent: pods share the host's network, on loopback addresses. */
  readonly podNetwork?: PodNetworkOptions;
  /** Where cluster DNS listens; default 127.96.0.10, the tenth address of the service range. */
  readonly clusterDnsAddress?: string;
  readonly kubeletPort?: number;
  readonly kubeletVersion?: string;
  readonly onProgress?: (progress: ImageProgress) => void;
  /** Receives a sentence about what this host lacks, for the user who starts the node. */
  readonly onNotice?: (sentence: string) => void;
}

/**
 * A running node. Disposing it stops all its containers within a bounded time. If its process is killed, they
 * keep running.
 */
export interface NodeAgent extends AsyncDisposable {
  readonly name: string;
  /** The node's own address on this host; the kubelet server listens there. */
  readonly address: string;
  readonly kubeletPort: number;
  /**
   * Offers the node to another agent on the same directory. Resolves when one asks for it; rejects when the
   * signal is aborted.
   */
  wanted(signal: AbortSignal): Promise<void>;
  /** Stops the agent but not its pods; the next agent on the same directory adopts them. */
  handOver(): Promise<void>;
  /**
   * Disposes the node after its cluster ended. The last agent that does so also removes the cluster's
   * network.
   */
  abandon(): Promise<void>;
  /** The main process of a container; undefined when the container is not running. */
  processOf(
    namespace: string,
    pod: string,
    container: string,
  ): { readonly pid: number; readonly sandboxPid: number } | undefined;
}
