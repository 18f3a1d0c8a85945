/**
 * Waits until containers exit. Their monitors write each exit code into a file, also while no agent is
 * running.
 */
import { type FSWatcher, mkdirSync, readFileSync, rmSync, statSync, watch } from "node:fs";
import { join } from "node:path";
import type { Clock, Timer } from "@setpoint/host";
import type { ContainerExit } from "./container-runtime.ts";
import { isAlive, type ProcessIdentity } from "../host/process-identity.ts";

/** Besides what the kernel reports of the folder. */
const lookMs = 1_000;
/** How long a monitor may take to write the code after the program ended. */
const writeMsMax = 3_000;

export interface WatchedContainer {
  /** The file's name. */
  readonly name: string;
  readonly main: ProcessIdentity;
  readonly oomFile: string;
}

interface Waiting extends WatchedContainer {
  readonly resolve: (exit: ContainerExit) => void;
  goneAtMs: number | undefined;
}

export class ExitWatch {
  readonly #clock: Clock;
  readonly #directory: string;
  readonly #waiting = new Map<string, Waiting>();
  #watcher: FSWatcher | undefined;
  #timer: Timer | undefined;

  constructor(clock: Clock, directory: string) {
    this.#clock = clock;
    this.#directory = directory;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  }

  get directory(): string {
    return this.#directory;
  }

  /** Resolves when the container has ended; also when its monitor was killed and the exit code is unknown. */
  exitOf(container: WatchedContainer): Promise<ContainerExit> {
    const { promise, resolve } = Promise.withResolvers<ContainerExit>();
    this.#waiting.set(container.name, { ...container, resolve, goneAtMs: undefined });
    this.#start();
    this.#look(container.name);
    return promise;
  }

  /** The exit; undefined when no code has been written yet. */
  read({ name, oomFile }: Pick<WatchedContainer, "name" | "oomFile">): ContainerExit | undefined {
    const file = join(this.#directory, name);
    try {
      const exitCode = Number.parseInt(readFileSync(file, "utf8"), 10);
      const finishedAtMs = statSync(file).mtimeMs;
      return {
        exitCode: Number.isNaN(exitCode) ? 137 : exitCode,
        finishedAtMs,
        ...(isThere(oomFile) ? { oomKilled: true } : {}),
      };
    } catch {
      return undefined;
    }
  }

  forget(name: string): void {
    rmSync(join(this.#directory, name), { force: true });
  }

  close(): void {
    this.#watcher?.close();
    this.#timer?.cancel();
    this.#waiting.clear();
  }

  #start(): void {
    if (this.#timer !== undefined) return;
    this.#watcher ??= this.#watch();
    this.#timer = this.#clock.setTimer(() => {
      this.#timer = undefined;
      for (const name of [...this.#waiting.keys()]) this.#look(name);
      if (this.#waiting.size > 0) this.#start();
    }, lookMs);
  }

  /** Where the kernel has no watches left, looking now and then must do. */
  #watch(): FSWatcher | undefined {
    try {
      const watcher = watch(this.#directory, (_, name) => name !== null && this.#look(name));
      watcher.on("error", () => watcher.close());
      return watcher.unref();
    } catch {
      return undefined;
    }
  }

  #look(name: string): void {
    const waiting = this.#waiting.get(name);
    if (waiting === undefined) return;
    const exit = this.read(waiting) ?? this.#lost(waiting);
    if (exit === undefined) return;
    this.#waiting.delete(name);
    waiting.resolve(exit);
  }

  #lost(waiting: Waiting): ContainerExit | undefined {
    if (isAlive(waiting.main)) return undefined;
    waiting.goneAtMs ??= this.#clock.monotonic();
    if (this.#clock.monotonic() - waiting.goneAtMs < writeMsMax) return undefined;
    return { exitCode: 137, isUnknown: true };
  }
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
