/** Reads the command line of etcd as etcd does. */

export interface EtcdArguments {
  readonly name: string;
  readonly dataDirectory: string;
  readonly peerUrl: string;
  readonly token: string;
  /** Name to peer URL. */
  readonly initialCluster: ReadonlyMap<string, string>;
  readonly isNew: boolean;
  /** The size of the file from which on it accepts no writes. */
  readonly quotaBytes: number;
  /** It makes itself the only member of its cluster. */
  readonly isForced: boolean;
}

const quotaBytesDefault = 2_147_483_648;

export function parseEtcdArguments(command: readonly string[]): EtcdArguments {
  const options = new Map<string, string>();
  for (const argument of command) {
    const at = argument.indexOf("=");
    if (argument.startsWith("--") && at > 2) options.set(argument.slice(2, at), argument.slice(at + 1));
  }
  const name = options.get("name") ?? "default";
  return {
    name,
    dataDirectory: options.get("data-dir") ?? `${name}.etcd`,
    peerUrl: options.get("initial-advertise-peer-urls") ?? "http://localhost:2380",
    token: options.get("initial-cluster-token") ?? "etcd-cluster",
    initialCluster: parseInitialCluster(options.get("initial-cluster") ?? ""),
    quotaBytes: Number(options.get("quota-backend-bytes") ?? quotaBytesDefault),
    isForced: command.includes("--force-new-cluster"),
    isNew: (options.get("initial-cluster-state") ?? "new") === "new",
  };
}

function parseInitialCluster(text: string): ReadonlyMap<string, string> {
  const pairs = text.split(",").flatMap((pair) => {
    const at = pair.indexOf("=");
    return at <= 0 ? [] : [[pair.slice(0, at), pair.slice(at + 1)] as const];
  });
  return new Map(pairs);
}

/** `…/etcd:v3.5.16` → `3.5.16`. */
export function etcdVersionOf(image: string): string | undefined {
  return /(?:^|\/)etcd:v?(\d+\.\d+\.\d+)$/.exec(image)?.[1];
}

/** `3.5.16` → 5; all versions are 3.x. */
export function minorOf(version: string): number {
  return Number(version.split(".")[1] ?? "0");
}

/** `http://name.cluster.ns.svc:2380` → `name.cluster.ns.svc`. */
export function hostOf(url: string): string {
  return /^https?:\/\/([^:/]+)/.exec(url)?.[1] ?? "";
}
