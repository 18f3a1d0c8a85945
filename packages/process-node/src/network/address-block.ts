/** A node's block of the pod range, and which pod has which address of it. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { nodeError } from "../errors.ts";
import { formatIpv4, parseCidr } from "./ipv4.ts";

export const defaultPodCidr = "127.64.0.0/12";
export const blockBits = 20;
const blockSize = 2 ** (32 - blockBits);
/** The first addresses of a block are the node's, and the last one is its agent's. */
const firstPodOffset = 2;

export interface AddressBlockOptions {
  readonly podCidr?: string;
  /**
   * The block to try first where none is remembered, a number of any size. Nodes of one machine that begin at
   * different blocks do not take that of a node whose agent is being restarted.
   */
  readonly firstBlock?: number;
  /** Keeps block and addresses over restarts. */
  readonly file: string;
  /** Listens on the address; returns false when it is taken (EADDRINUSE). */
  readonly claim: (address: string) => Promise<boolean>;
}

interface Persisted {
  readonly block: number;
  readonly addresses: Readonly<Record<string, number>>;
}

/**
 * Claims the block used last time, or else the next free one. The socket that listens on the block's first
 * address is the claim, so two nodes of one machine never share a block and the block of a dead node is free
 * at once.
 */
export async function claimAddressBlock(options: AddressBlockOptions): Promise<AddressBlock> {
  const { base, size } = parseCidr(options.podCidr ?? defaultPodCidr);
  const blocks = size / blockSize;
  const persisted = read(options.file);
  for (let i = 0; i < blocks; i++) {
    const block = ((persisted?.block ?? options.firstBlock ?? 0) + i) % blocks;
    const blockBase = base + block * blockSize;
    if (!(await options.claim(formatIpv4(blockBase + 1)))) continue;
    const kept = persisted?.block === block ? persisted.addresses : {};
    return new AddressBlock(options.file, block, blockBase, kept);
  }
  throw nodeError(
    "ERR_ADDRESSES_EXHAUSTED",
    `Cannot claim an address block of ${options.podCidr ?? defaultPodCidr}: all ${blocks} are taken`,
  );
}

/** Gives pods addresses of one block and remembers them in a file. */
export class AddressBlock {
  readonly nodeAddress: string;
  readonly podCidr: string;
  readonly #file: string;
  readonly #block: number;
  readonly #base: number;
  readonly #offsets: Map<string, number>;
  #lastOffset: number;

  constructor(file: string, block: number, base: number, addresses: Readonly<Record<string, number>>) {
    this.#file = file;
    this.#block = block;
    this.#base = base;
    this.#offsets = new Map(Object.entries(addresses));
    this.#lastOffset = Math.max(firstPodOffset - 1, ...this.#offsets.values());
    this.nodeAddress = formatIpv4(base + 1);
    this.podCidr = `${formatIpv4(base)}/${blockBits}`;
    this.#save();
  }

  addressOf(podUid: string): string {
    const offset = this.#offsets.get(podUid) ?? this.#allocate(podUid);
    return formatIpv4(this.#base + offset);
  }

  has(podUid: string): boolean {
    return this.#offsets.has(podUid);
  }

  release(podUid: string): void {
    if (this.#offsets.delete(podUid)) this.#save();
  }

  retain(podUids: ReadonlySet<string>): void {
    for (const uid of this.#offsets.keys()) if (!podUids.has(uid)) this.release(uid);
  }

  /** Goes round, so that an address is reused as late as possible: clients may still hold the old one. */
  #allocate(podUid: string): number {
    const used = new Set(this.#offsets.values());
    const span = blockSize - 1 - firstPodOffset;
    for (let i = 0; i < span; i++) {
      const offset = firstPodOffset + ((this.#lastOffset + 1 - firstPodOffset + i) % span);
      if (used.has(offset)) continue;
      this.#offsets.set(podUid, offset);
      this.#lastOffset = offset;
      this.#save();
      return offset;
    }
    throw nodeError(
      "ERR_ADDRESSES_EXHAUSTED",
      `Cannot give pod ${podUid} an address: all ${span} of ${this.podCidr} are in use`,
    );
  }

  #save(): void {
    const persisted: Persisted = { block: this.#block, addresses: Object.fromEntries(this.#offsets) };
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
    writeFileSync(`${this.#file}.new`, JSON.stringify(persisted), { mode: 0o600 });
    renameSync(`${this.#file}.new`, this.#file);
  }
}

function read(file: string): Persisted | undefined {
  try {
    const value = JSON.parse(readFileSync(file, "utf8")) as Persisted;
    return typeof value.block === "number" && typeof value.addresses === "object" ? value : undefined;
  } catch {
    return undefined;
  }
}
