/**
 * Writes the configuration for Prometheus and has it loaded. It never stays behind a configuration that
 * Prometheus has refused: it asks again, and takes the next one as soon as it is there.
 */
import { configurationHash } from "./configuration-hash.ts";
import { withVariables } from "./variables.ts";

/** What is mounted into the pod. */
export interface Sources {
  /** Undefined while the Secret has none. */
  readonly configuration: string | undefined;
  /** By `CONFIGMAP/FILE`. */
  readonly rules: ReadonlyMap<string, string>;
}

/** Where a reloader reads, writes and asks. */
export interface ReloaderPorts {
  readonly read: () => Promise<Sources>;
  readonly write: (text: string) => Promise<void>;
  /** Rejects with what Prometheus says when it keeps its old configuration. */
  readonly reload: (signal: AbortSignal) => Promise<void>;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** RFC 3339. */
  readonly now: () => string;
}

/** What a reloader reports. */
export interface LoadedReport {
  /** Of the configuration and rules that Prometheus has loaded; absent before the first one. */
  readonly hash?: string;
  readonly loadedAt?: string;
  /** Why a newer one is not loaded. */
  readonly failing?: { readonly hash: string; readonly message: string; readonly since: string };
}

export class Reloader {
  readonly #ports: ReloaderPorts;
  #written = "";
  #report: LoadedReport = {};

  constructor(ports: ReloaderPorts) {
    this.#ports = ports;
  }

  get report(): LoadedReport {
    return this.#report;
  }

  /** Whether Prometheus has what is mounted, as far as the last step knows. */
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
    const { configuration, rules } = await this.#ports.read();
    if (configuration === undefined) return;
    const hash = configurationHash(configuration, rules);
    if (hash === this.#report.hash && this.#report.failing === undefined) return;
    try {
      await this.#write(configuration);
      await this.#ports.reload(signal);
      this.#report = { hash, loadedAt: this.#ports.now() };
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
