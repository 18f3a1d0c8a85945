/** The disk that holds the volumes of all members: a file system of its own that can be filled. */
import { spawnSync } from "node:child_process";
import { mkdirSync, statfsSync } from "node:fs";

const bytes = 8 * 2 ** 30;

export class VolumesDisk implements Disposable {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Mounts it at `folder`; only root may. Must be there before the first volume is made. */
  static mount(folder: string): VolumesDisk {
    mkdirSync(folder, { recursive: true, mode: 0o711 });
    run("mount", ["-t", "tmpfs", "-o", `size=${bytes},mode=711`, "tmpfs", folder]);
    return new VolumesDisk(folder);
  }

  /** No file can grow and none can be made until what this returns is disposed. */
  fill(): Disposable {
    const { bsize, blocks, bfree } = statfsSync(this.#folder);
    this.#resize((blocks - bfree) * bsize);
    return { [Symbol.dispose]: () => this.#resize(bytes) };
  }

  #resize(size: number): void {
    run("mount", ["-o", `remount,size=${size}`, this.#folder]);
  }

  [Symbol.dispose](): void {
    run("umount", ["--lazy", this.#folder]);
  }
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed: ${stderr}`);
}
