/** What is left of a cluster while its disk is full: the API server reads, and refuses writes. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { SetpointError } from "@setpoint/apimachinery";
import { diskRoom, fullDiskText, isDiskFull } from "@setpoint/apiserver/sqlite";
import { startControlPlane } from "@setpoint/controlplane";
import { type Host, sleep } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { openLog } from "./log-file.ts";
import { claimServiceBlock } from "./service-block.ts";

/** A start writes less, and so does the first minute. */
const startBytesMin = 1_048_576;
const checkMs = 2_000;

/** Throws `ERR_DISK_FULL` when there is too little room for a start. */
export function requireRoom(directory: string): void {
  const { freeBytes, freeFiles } = diskRoom(directory);
  if (freeBytes < startBytesMin || freeFiles < 1) throw cannotStart(directory);
}

/** The same error for what failed because the disk became full meanwhile. */
export function unlessDiskFull(directory: string, error: unknown): unknown {
  return isDiskFull(error) ? cannotStart(directory, error) : error;
}

function cannotStart(directory: string, cause?: unknown): SetpointError {
  const options = cause === undefined ? {} : { cause };
  const message = `Cannot start: ${fullDiskText(directory)} (a start needs ${startBytesMin} bytes)`;
  return new SetpointError("ERR_DISK_FULL", message, options);
}

/** Whether there is something to read. */
export function hasStore(directory: string): boolean {
  return existsSync(join(directory, "store", "state.db"));
}

export interface ReadingServer extends AsyncDisposable {
  readonly url: string;
  readonly kubeconfig: string;
  /** Resolves when there is room for a start; rejects when the signal is aborted. */
  roomFor(signal: AbortSignal): Promise<void>;
}

/** Serves the stored state of `directory`. Writes are answered with a Status that names the disk. */
export async function serveReads(directory: string, port: number): Promise<ReadingServer> {
  await using parts = new AsyncDisposableStack();
  const host = hostWithLog(directory, parts);
  const block = parts.use(await claimServiceBlock(directory));
  const controlPlane = parts.use(
    await startControlPlane({
      host,
      directory,
      https: { port },
      serviceCidr: block.cidr,
      dnsAddress: block.dnsAddress,
      readsOnly: cannotStart(directory),
    }),
  );
  const owned = parts.move();
  return {
    url: controlPlane.url ?? "",
    kubeconfig: controlPlane.kubeconfig(),
    async roomFor(signal) {
      while (diskRoom(directory).freeBytes < startBytesMin || diskRoom(directory).freeFiles < 1)
        await sleep(host.clock, checkMs, signal);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A new log file needs no block, and its lines are dropped while there is none for them. */
function hostWithLog(directory: string, parts: AsyncDisposableStack): Host {
  try {
    const log = parts.adopt(openLog(join(directory, "control-plane.log")), (file) => file.close());
    return systemHost({ write: log.write });
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    return systemHost();
  }
}
