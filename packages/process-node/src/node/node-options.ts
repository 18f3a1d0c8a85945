import type { Transport } from "@setpoint/apimachinery";
import type { Host } from "@setpoint/host";
import type { ImageSource } from "../images/image.ts";
import type { PodNetworkOptions } from "../network/node-network.ts";
import type { ImageProgress } from "../images/image-store.ts";

export interface NodeOptions {
  readonly name: string;
  /** To the API server, as `system:node:NAME`. */
  readonly transport: Transport;
  readonly host: Host;
  /** Pods, logs, volumes and addresses lie here; one agent at a time. */
  readonly directory: string;
  /** Where images lie; may be shared by nodes. Default: `images` in the directory. */
  readonly imageCache?: string;
  /** The authority whose client certificates (the API server's) the kubelet server accepts, PEM. */
  readonly caPem: string;
  /** The node's serving certificate, PEM. */
  readonly tls: { readonly cert: string; readonly key: string };
  /** Images made on this host, by the name that manifests use. */
  readonly localImages?: Readonly<Record<string, ImageSource>>;
  /** Debian mirror; default: that of the host's apt sources. */
  readonly mirror?: string;
  readonly podCidr?: string;
  /** Gives pods network namespaces of their own; absent: they share the host's, on loopback addresses. */
  readonly podNetwork?: PodNetworkOptions;
  /** Where cluster DNS listens; default 127.96.0.10, the tenth address of the service range. */
  readonly clusterDnsAddress?: string;
  readonly kubeletPort?: number;
  readonly kubeletVersion?: string;
  readonly onProgress?: (progress: ImageProgress) => void;
  /** A sentence about what this host lacks, for the user who starts the node. */
  readonly onNotice?: (sentence: string) => void;
}

/** A running node. Disposing it ends all its containers, within a bounded time; they outlive a process that is killed. */
export interface NodeAgent extends AsyncDisposable {
  readonly name: string;
  /** The node's own address; the kubelet server listens there. */
  readonly address: string;
  readonly kubeletPort: number;
  /** Offers the node to another agent on the same directory; resolves when one wants it, and rejects when the signal is aborted. */
  wanted(signal: AbortSignal): Promise<void>;
  /** Ends the agent instead of disposing it: its pods go on, for another agent on the same directory that adopts them. */
  handOver(): Promise<void>;
  /** Disposes it where nobody else ends the cluster: the last agent to do so ends the cluster's network too. */
  abandon(): Promise<void>;
  /** The main process of a container, undefined when it does not run. */
  processOf(
    namespace: string,
    pod: string,
    container: string,
  ): { readonly pid: number; readonly sandboxPid: number } | undefined;
}
