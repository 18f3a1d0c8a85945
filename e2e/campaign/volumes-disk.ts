/** The disk that holds the volumes of all members: a file system of its own that can be filled. */
import { spawnSync } from "node:child_process";
import { mkdirSync, statfsSync } from "node:fs";

const bytes = 8 * 2 ** 30;
/** How much room a full disk may have left, because its users write while it is filled. */
const slackMax = 2 ** 20;
const slackStep = 2 ** 16;

export class VolumesDisk implements Disposable {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Mounts it at `folder`; only root may. Must be there before the first volume is made. */
  static mount(folder: string): VolumesDisk {
    mkdirSync(folder, { recursive: true, mode: 0o711 });
    const { status, stderr } = mount(["-t", "tmpfs", "-o", `size=${bytes},mode=711`, "tmpfs", folder]);
    if (status !== 0) throw new Error(`Cannot mount a file system at ${folder}: ${stderr}`);
    return new VolumesDisk(folder);
  }

  /** No file can grow and none can be made until what this returns is disposed. */
  fill(): Disposable {
    // Members go on writing: what was the used size may be too small a moment later.
    for (let slack = 0; !this.#resize(this.#usedBytes() + slack); slack += slackStep)
      if (slack > slackMax) throw new Error(`${this.#folder} cannot be made as small as what it holds`);
    return { [Symbol.dispose]: () => void this.#resize(bytes) };
  }

  #usedBytes(): number {
    const { bsize, blocks, bfree } = statfsSync(this.#folder);
    return (blocks - bfree) * bsize;
  }

  /** Whether the disk took the size. */
  #resize(size: number): boolean {
    return mount(["-o", `remount,size=${size}`, this.#folder]).status === 0;
  }

  [Symbol.dispose](): void {
    spawnSync("umount", ["--lazy", this.#folder]);
  }
}

function mount(args: readonly string[]): { readonly status: number | null; readonly stderr: string } {
  return spawnSync("mount", args, { encoding: "utf8" });
}
