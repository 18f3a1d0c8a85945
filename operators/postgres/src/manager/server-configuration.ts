/** The configuration files of the server: what it starts with, and what it reads again while it runs. */
import type { ServerSettings } from "../instance/instance-protocol.ts";
import { lowerThan, withLeast } from "../instance/server-limits.ts";
import type { ServerIdentity } from "./configuration-files.ts";
import type { InstanceManagerParts } from "./manager-parts.ts";
import type { ServerFacts } from "./sql.ts";

/** A server has read its files again after so long, and what is known of it is not older. */
const reloadMs = 1_000;

export class ServerConfiguration {
  readonly #parts: Pick<InstanceManagerParts, "clock" | "data" | "server" | "settings">;
  #given: ServerSettings | undefined;
  #keptFor: ServerSettings | undefined;
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(parts: Pick<InstanceManagerParts, "clock" | "data" | "server" | "settings">) {
    this.#parts = parts;
  }

  /** Whether a running server has read what it gets of these settings, of the document that is followed. */
  hasRead(wanted: ServerSettings | undefined): boolean {
    return wanted === this.#keptFor && this.#parts.clock.monotonic() - this.#readAtMs > reloadMs;
  }

  /** Writes what a server starts with; false while PostgreSQL accepts nothing of what there is. */
  async prepare(wanted: ServerSettings, identity: ServerIdentity, signal: AbortSignal): Promise<boolean> {
    const accepted = await this.#parts.settings.accepted(wanted, undefined, signal);
    if (accepted === undefined) return false;
    this.#given = identity.follows === undefined ? accepted : await this.#forReplica(accepted, signal);
    this.#parts.data.configure(this.#given, identity);
    this.#readAtMs = this.#parts.clock.monotonic();
    return true;
  }

  /** A server that does not answer yet gets what it has, with another primary. */
  follow(identity: ServerIdentity): void {
    if (this.#given !== undefined) this.#give(this.#given, identity);
  }

  /** Gives a running server its settings, as far as PostgreSQL accepts them. */
  async keep(
    wanted: ServerSettings,
    { limits, pendingRestart }: ServerFacts,
    identity: ServerIdentity,
    signal: AbortSignal,
  ): Promise<void> {
    const { settings } = this.#parts;
    const accepted = await settings.accepted(wanted, identity, signal);
    if (accepted === undefined) return;
    const isLowered = identity.follows !== undefined && lowerThan(accepted.parameters, limits).length > 0;
    this.#give(isLowered ? await this.#forReplica(accepted, signal) : accepted, identity);
    this.#keptFor = wanted;
    if (this.hasRead(wanted) && accepted === wanted && pendingRestart.length === 0) settings.prove(accepted);
  }

  #give(settings: ServerSettings, identity: ServerIdentity): void {
    this.#given = settings;
    if (!this.#parts.data.configure(settings, identity)) return;
    this.#parts.server.reload();
    this.#readAtMs = this.#parts.clock.monotonic();
  }

  /** The log says what the primary has; with less, a replica does not start. */
  async #forReplica(settings: ServerSettings, signal: AbortSignal): Promise<ServerSettings> {
    const { limits = {} } = (await this.#parts.data.control(signal)) ?? {};
    return { ...settings, parameters: withLeast(settings.parameters, limits) };
  }
}
