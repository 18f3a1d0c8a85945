/**
 * The network of a cluster's pods: one of its own where this host allows it, otherwise addresses of the
 * host's loopback network.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Server } from "node:net";
import { join } from "node:path";
import { messageOf, SetpointError } from "@setpoint/apimachinery";
import type { ControlPlane, ControlPlaneOptions } from "@setpoint/controlplane";
import type { Clock } from "@setpoint/host";
import { isDiskFull } from "@setpoint/apiserver/sqlite";
import {
  apiPort,
  type ClusterAddresses,
  type ClusterNetwork,
  hostAddress,
  inCidr,
  missingPackages,
  missingSentence,
  type NetworkNamespace,
  openClusterNetwork,
  podRange,
} from "@setpoint/process-node";
import type { ServiceBlock } from "./service-block.ts";

export interface PodNetworkChoice extends AsyncDisposable {
  readonly serviceCidr: string;
  readonly dnsAddress: string;
  /** What nodes need of it; undefined on the loopback network. */
  readonly forNodes: { readonly namespace: NetworkNamespace; readonly apiAddress: string } | undefined;
  readonly forControlPlane: Pick<ControlPlaneOptions, "podNetwork">;
  /** Lets pods reach the API server by its Service. */
  publish(controlPlane: ControlPlane): Promise<void>;
}

export interface PodNetworkQuestion {
  readonly clock: Clock;
  /** The data directory. */
  readonly directory: string;
  /** Whether the directory lives longer than this process. */
  readonly isKept: boolean;
  readonly block: ServiceBlock;
  readonly say: (line: string) => void;
}

type Kind = "namespace" | "loopback";

/** Services keep their addresses, so a data directory keeps the kind of network that it began with. */
export async function choosePodNetwork(question: PodNetworkQuestion): Promise<PodNetworkChoice> {
  const { directory, block, say } = question;
  const file = join(directory, "pod-network");
  const known = knownKind(directory, file);
  if (known === "loopback") {
    say(
      `Pods share this host's network, because the Services of "${directory}" have addresses of it; start with a new --data-dir to separate them`,
    );
    return loopback(block);
  }
  try {
    await using parts = new AsyncDisposableStack();
    const choice = parts.use(await separate(question));
    if (question.isKept && known === undefined) writeKind(file, "namespace");
    parts.move();
    return choice;
  } catch (error) {
    // That says nothing about what the host allows.
    if (isDiskFull(error)) throw error;
    if (known === "namespace") throw cannotGoBack(directory, error);
    if (question.isKept) writeKind(file, "loopback");
    say(`Pods share this host's network, because it cannot separate them: ${lacking(error)}`);
    return loopback(block);
  }
}

/** Directories of versions before there was a choice have Services on loopback addresses. */
function knownKind(directory: string, file: string): Kind | undefined {
  if (existsSync(file)) return readFileSync(file, "utf8") === "namespace" ? "namespace" : "loopback";
  return existsSync(join(directory, "store")) ? "loopback" : undefined;
}

function writeKind(file: string, kind: Kind): void {
  writeFileSync(`${file}.new`, kind, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function cannotGoBack(directory: string, cause: unknown): SetpointError {
  const message = `Cannot start from "${directory}": its pods need network namespaces, and this host cannot make them: ${lacking(cause)}`;
  return new SetpointError("ERR_NETWORK", message, { cause });
}

/** What is missing, with the command that adds it and whatever else a node lacks. */
export function lacking(error: unknown): string {
  const text = messageOf(error).replace(/\s+/g, " ");
  const [, tool] = /(?:failed to execute|spawn) (nft|ip|unshare|nsenter)\b/.exec(text) ?? [];
  const missing = missingPackages();
  if (tool !== undefined && missing.length > 0) return missingSentence(missing);
  if (/unshare.*(not permitted|denied|No space left)/i.test(text))
    return 'it allows no user namespaces; run "sysctl kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0 user.max_user_namespaces=10000" as root';
  return text;
}

function loopback(block: ServiceBlock): PodNetworkChoice {
  return {
    serviceCidr: block.cidr,
    dnsAddress: block.dnsAddress,
    forNodes: undefined,
    forControlPlane: {},
    publish: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
}

/** Addresses inside differ from those that the block claims on the host in the first number alone. */
function inside(address: string): string {
  return address.replace(/^127\./, "10.");
}

async function separate({ clock, directory, isKept, block }: PodNetworkQuestion): Promise<PodNetworkChoice> {
  // The runtime of an ordinary user makes user namespaces beside each other, and none may put an interface
  // into another.
  if (process.getuid?.() !== 0)
    throw new SetpointError(
      "ERR_NETWORK",
      'only root can join their networks; run "setpoint up" as root to separate them',
    );
  const addresses: ClusterAddresses = { api: inside(block.apiAddress), dns: inside(block.dnsAddress) };
  const file = isKept ? { file: join(directory, "network-namespace.json") } : {};
  const network = await openClusterNetwork({ clock, addresses, ...file });
  let api: Server | undefined;
  return {
    serviceCidr: inside(block.cidr),
    dnsAddress: addresses.dns,
    forNodes: { namespace: network.namespace, apiAddress: addresses.api },
    forControlPlane: {
      podNetwork: {
        api: { address: addresses.api, port: apiPort },
        hosts: [block.apiAddress],
        connectToPod: (address, port) => connectToPod(network, address, port),
        hostOf: (address) => (inCidr(address, podRange) ? hostAddress(address) : address),
      },
    },
    async publish(controlPlane) {
      api = await network.sockets.listen(addresses.api, apiPort);
      api.on("connection", (socket) => controlPlane.accept(socket));
    },
    async [Symbol.asyncDispose]() {
      api?.close();
      await network[Symbol.asyncDispose]();
    },
  };
}

function connectToPod(
  { sockets }: ClusterNetwork,
  address: string,
  port: number,
): ReturnType<ClusterNetwork["sockets"]["connect"]> | undefined {
  return inCidr(address, podRange) ? sockets.connect(address, port) : undefined;
}
