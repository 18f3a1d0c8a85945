/** A whole cluster on this machine: the control plane in this process, each node as a process of its own. */
import { tmpdir } from "node:os";
import { mkdtempSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { Transport } from "@setpoint/apimachinery";
import { type FaultPlan, startControlPlane, type ControlPlane } from "@setpoint/controlplane";
import type { Host } from "@setpoint/host";
import { startStallWatchdog, systemHost } from "@setpoint/host/system";
import {
  folderProvisionerName,
  type ImageSource,
  missingPackages,
  missingSentence,
  podNotices,
  requireTools,
} from "@setpoint/process-node";
import { openLog } from "./log-file.ts";
import { guardProcess } from "../process-guard.ts";
import { slowSteps } from "../slow-steps.ts";
import { stallLimits } from "./stall-limits.ts";
import { startNodeProcess } from "./node-process.ts";
import { choosePodNetwork } from "./pod-network.ts";
import { preparePrivateFolder } from "./prepare-folder.ts";
import { requireRoom, unlessDiskFull } from "./serve-reads.ts";
import { claimServiceBlock } from "./service-block.ts";

/** Where an embedded cluster keeps its data, where it listens, and how many nodes it has. */
export interface ClusterOptions {
  /** Absent: in memory, with a temporary folder for the nodes. */
  readonly directory: string | undefined;
  readonly port: number;
  readonly nodes: number;
  /** Images that exist on this machine alone. */
  readonly localImages?: Readonly<Record<string, ImageSource>>;
  /** Whether pods may have rights over the host; default: no. */
  readonly allowHost?: boolean;
  /** What goes wrong on purpose. */
  readonly faults?: FaultPlan | undefined;
  /** Told what happens, a line each. */
  readonly say: (line: string) => void;
}

/** A running embedded cluster: API server, controllers and nodes. Disposing of it stops all of them. */
export interface Cluster extends AsyncDisposable {
  readonly url: string;
  readonly kubeconfig: string;
  /** As cluster-admin. */
  readonly transport: Transport;
  readonly host: Host;
}

/** Where unpacked images are kept for all clusters of this user. */
export function imageCacheFolder(): string {
  const cache = process.env["XDG_CACHE_HOME"] ?? "";
  // Its specification: a path that is empty or relative is to be ignored.
  return join(isAbsolute(cache) ? cache : join(homedir(), ".cache"), "setpoint", "images");
}

/**
 * Resolves when the control plane serves and the nodes are ready.
 *
 * Errors: `ERR_DISK_FULL` and what else keeps a cluster from starting.
 */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  await using parts = new AsyncDisposableStack();
  if (options.nodes > 0) requireTools();
  const directory = options.directory ?? temporaryFolder(parts);
  try {
    return await startIn(options, directory, parts);
  } catch (error) {
    throw unlessDiskFull(directory, error);
  }
}

async function startIn(options: ClusterOptions, directory: string, parts: AsyncDisposableStack): Promise<Cluster> {
  using steps = slowSteps(options.say);
  steps.begin("preparing the data directory");
  preparePrivateFolder("data directory", directory);
  requireRoom(directory);
  preparePrivateFolder("folder of nodes", join(directory, "nodes"));
  const logPath = join(directory, "control-plane.log");
  const log = parts.adopt(openLog(logPath), (file) => file.close());
  const host = systemHost({ write: log.write });
  parts.use(startStallWatchdog({ ...stallLimits, file: logPath }));
  parts.use(guardProcess(host.log));
  const block = parts.use(await claimServiceBlock(directory));
  const isKept = options.directory !== undefined;
  const { allowHost = false } = options;
  const question = { clock: host.clock, directory, isKept, block, say: options.say };
  steps.begin("preparing the network of the pods");
  const network = parts.use(await choosePodNetwork(question));
  if (options.nodes > 0) reportMissingImageTools(options.say);
  steps.begin("reading the stored state, starting the API server and the controllers");
  const controlPlane = parts.use(
    await startControlPlane({
      host,
      ...(options.directory === undefined ? {} : { directory }),
      https: { port: options.port },
      serviceCidr: network.serviceCidr,
      dnsAddress: network.dnsAddress,
      ...network.forControlPlane,
      ...(options.faults === undefined ? {} : { faults: options.faults }),
      nodes: { podNotices: (spec) => podNotices(spec, { allowHost }), provisioners: [folderProvisionerName] },
    }),
  );
  await network.publish(controlPlane);
  for (let i = 1; i <= options.nodes; i++) {
    steps.begin(`starting node-${i} and finding its pods`);
    parts.use(
      await startNodeProcess({
        clock: host.clock,
        name: `node-${i}`,
        directory,
        controlPlane,
        network,
        imageCache: imageCacheFolder(),
        localImages: options.localImages ?? {},
        allowHost,
        isKept: options.directory !== undefined,
        say: options.say,
      }),
    );
  }
  return describe(controlPlane, host, parts.move());
}

/** The sentence about the network of the pods has named everything that is missing, if there was one. */
function reportMissingImageTools(say: (line: string) => void): void {
  const missing = missingPackages();
  if (missing.length > 0 && !missing.some(({ need }) => need === "networks"))
    say(`Images cannot be made of Debian packages: ${missingSentence(missing)}`);
}

function temporaryFolder(parts: AsyncDisposableStack): string {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-"));
  parts.defer(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function describe(controlPlane: ControlPlane, host: Host, parts: AsyncDisposableStack): Cluster {
  return {
    url: controlPlane.url ?? "",
    kubeconfig: controlPlane.kubeconfig(),
    transport: controlPlane.transport,
    host,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
