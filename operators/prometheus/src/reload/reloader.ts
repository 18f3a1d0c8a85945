/**
 * Writes the configuration for a server and has it loaded. It never stays behind a configuration that the
 * server has refused: it asks again, and takes the next one as soon as it is there.
 */
import { configurationHash } from "./configuration-hash.ts";
import { withVariables } from "./variables.ts";

/** What is mounted into the pod. */
export interface Sources {
  /** Undefined while the Secret has none. */
  readonly configuration: string | undefined;
  /** By `CONFIGMAP/FILE`. */
  readonly rules: ReadonlyMap<string, string>;
  /** The digest of files that the operator does not know: a change of them is loaded, but not reported. */
  readonly watched: string;
}

/** Where a reloader reads, writes and asks. */
export interface ReloaderPorts {
  readonly read: () => Promise<Sources>;
  readonly write: (text: string) => Promise<void>;
  /** Rejects with what the server says when it keeps its old configuration. */
  readonly reload: (signal: AbortSignal) => Promise<void>;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** RFC 3339. */
  readonly now: () => string;
}

/** What a reloader reports. */
export interface LoadedReport {
  /** Of the configuration and rules that the server has loaded; absent before the first one. */
  readonly hash?: string;
  readonly loadedAt?: string;
  /** Why a newer one is not loaded. */
  readonly failing?: { readonly hash: string; readonly message: string; readonly since: string };
}

export class Reloader {
  readonly #ports: ReloaderPorts;
  #written = "";
  #watched = "";
  #report: LoadedReport = {};

  constructor(ports: ReloaderPorts) {
    this.#ports = ports;
  }

  get report(): LoadedReport {
    return this.#report;
  }

  /** Whether the server has what is mounted, as far as the last step knows. */
  get isSettled(): boolean {
    return this.#report.hash !== undefined && this.#report.failing === undefined;
  }

  /** Writes the configuration; whether there was one. For the start of a pod. */
  async writeOnce(): Promise<boolean> {
    const { configuration } = await this.#ports.read();
    if (configuration === undefined) return false;
    await this.#ports.write(withVariables(configuration, this.#ports.variables));
    return true;
  }

  /** Loads what is mounted, unless it is loaded already. */
  async step(signal: AbortSignal): Promise<void> {
    const { configuration, rules, watched } = await this.#ports.read();
    if (configuration === undefined) return;
    const hash = configurationHash(configuration, rules);
    const isLoaded = hash === this.#report.hash && watched === this.#watched;
    if (isLoaded && this.#report.failing === undefined) return;
    try {
      await this.#write(configuration);
      await this.#ports.reload(signal);
      this.#report = { hash, loadedAt: this.#ports.now() };
      this.#watched = watched;
    } catch (error) {
      this.#report = { ...this.#report, failing: this.#failure(hash, error) };
    }
  }

  async #write(configuration: string): Promise<void> {
    const text = withVariables(configuration, this.#ports.variables);
    if (text === this.#written) return;
    await this.#ports.write(text);
    this.#written = text;
  }

  #failure(hash: string, error: unknown): NonNullable<LoadedReport["failing"]> {
    const { failing } = this.#report;
    const since = failing?.hash === hash ? failing.since : this.#ports.now();
    return { hash, message: error instanceof Error ? error.message : String(error), since };
  }
}
