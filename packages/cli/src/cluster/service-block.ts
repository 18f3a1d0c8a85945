/** Clusters on one machine share 127.96.0.0/12; each claims a /20 of it for its Services. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join, resolve } from "node:path";
import { SetpointError } from "@setpoint/apimachinery";

/** 127.96.0.0/12 has this many blocks of 16 × 256 addresses. */
const blocks = 256;
/**
 * The claim is a socket on the last address but one of the block: it goes with the process, however that
 * ends.
 */
const claimPort = 10_443;

export interface ServiceBlock extends AsyncDisposable {
  readonly cidr: string;
  /** The address of the Service `kubernetes`. */
  readonly apiAddress: string;
  /** The address of the cluster's DNS. */
  readonly dnsAddress: string;
}

/** The block that this directory's cluster had before, or a free one. */
export async function claimServiceBlock(directory: string): Promise<ServiceBlock> {
  const file = join(directory, "service-block");
  if (existsSync(file)) return keepBlock(readBlock(file), directory);
  // Where the search begins depends on the directory, so that a cluster that is stopped rarely loses its
  // block to another.
  const first = createHash("sha256").update(resolve(directory)).digest().readUInt8(0);
  for (let i = 0; i < blocks; i++) {
    const block = (first + i) % blocks;
    const claim = await listenOn(block);
    if (claim === undefined) continue;
    mkdirSync(directory, { recursive: true });
    // Whole or not at all: half a file would be taken for another block.
    writeFileSync(`${file}.new`, String(block), { mode: 0o600 });
    renameSync(`${file}.new`, file);
    return describe(block, claim);
  }
  throw new SetpointError(
    "ERR_NO_SERVICE_BLOCK",
    `Cannot start: all ${blocks} ranges of service addresses are in use by other clusters on this machine`,
  );
}

function readBlock(file: string): number {
  const text = readFileSync(file, "utf8");
  if (/^\d+$/.test(text) && Number(text) < blocks) return Number(text);
  // Services hold addresses of the block, so another one cannot be chosen for them.
  throw new SetpointError(
    "ERR_DATA_DIR_CORRUPT",
    `Cannot read "${file}": it holds ${JSON.stringify(text.slice(0, 20))}, expected a number from 0 to ${blocks - 1}; restore it from a copy`,
  );
}

async function keepBlock(block: number, directory: string): Promise<ServiceBlock> {
  const claim = await listenOn(block);
  if (claim !== undefined) return describe(block, claim);
  throw new SetpointError(
    "ERR_DATA_DIR_IN_USE",
    `Cannot start from "${directory}": another process uses it, or its range of service addresses ${cidrOf(block)}; stop that process or choose another --data-dir`,
  );
}

function prefixOf(block: number): { readonly second: number; readonly third: number } {
  return { second: 96 + Math.floor(block / 16), third: (block % 16) * 16 };
}

function cidrOf(block: number): string {
  const { second, third } = prefixOf(block);
  return `127.${second}.${third}.0/20`;
}

function describe(block: number, claim: Server): ServiceBlock {
  const { second, third } = prefixOf(block);
  return {
    cidr: cidrOf(block),
    apiAddress: `127.${second}.${third}.1`,
    dnsAddress: `127.${second}.${third}.10`,
    [Symbol.asyncDispose]: () => new Promise((resolve) => claim.close(() => resolve())),
  };
}

function listenOn(block: number): Promise<Server | undefined> {
  const { second, third } = prefixOf(block);
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", () => resolve(undefined));
    server.listen(claimPort, `127.${second}.${third + 15}.254`, () => resolve(server.unref()));
  });
}
