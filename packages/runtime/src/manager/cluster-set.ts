/**
 * The clusters of a manager that come and go: each with its own client, caches and queues, so that one never
 * holds up another.
 */
import { SetpointError, type Transport } from "@setpoint/apimachinery";
import type { Logger } from "@setpoint/host";
import { errCluster, errStopped } from "../errors.ts";
import type { ClusterCell } from "./cluster-cell.ts";
import type { ClusterRegistry } from "./manager-options.ts";

export interface ClusterSetOptions {
  readonly log: Logger;
  readonly shutdownMsMax: number;
  /** Makes the cell of a cluster, whose runs `signal` aborts. */
  create(name: string, transport: Transport, signal: AbortSignal): ClusterCell;
}

interface Member {
  readonly cell: ClusterCell;
  readonly stopper: AbortController;
  removing: Promise<void> | undefined;
}

export class ClusterSet implements ClusterRegistry {
  readonly #options: ClusterSetOptions;
  readonly #members = new Map<string, Member>();
  #isActive = false;
  #isStopped = false;

  constructor(options: ClusterSetOptions) {
    this.#options = options;
  }

  get cells(): readonly ClusterCell[] {
    return [...this.#members.values()].map(({ cell }) => cell);
  }

  names(): readonly string[] {
    return [...this.#members.keys()];
  }

  get(name: string): ClusterCell | undefined {
    return this.#members.get(name)?.cell;
  }

  add(name: string, transport: Transport): void {
    if (this.#isStopped) throw new SetpointError(errStopped, `Cannot add cluster "${name}": the manager is stopping`);
    if (this.#members.has(name))
      throw new SetpointError(errCluster, `Cannot add cluster "${name}": a cluster of this name exists already`);
    const stopper = new AbortController();
    const cell = this.#options.create(name, transport, stopper.signal);
    this.#members.set(name, { cell, stopper, removing: undefined });
    cell.start();
    this.#options.log.info("Added cluster", { cluster: name });
    void cell.synced().then(() => this.#isActive && cell.activate());
  }

  remove(name: string): Promise<void> {
    const member = this.#members.get(name);
    if (member === undefined)
      return Promise.reject(new SetpointError(errCluster, `Cannot remove cluster "${name}": no cluster has this name`));
    return (member.removing ??= this.#end(name, member));
  }

  /** Lets keys run in all clusters whose caches are complete, and in others as soon as theirs are. */
  activate(): void {
    this.#isActive = true;
    for (const { cell } of this.#members.values()) if (cell.isSynced) cell.activate();
  }

  /** The manager stops: no keys run in clusters that become ready, and none is added any more. */
  deactivate(): void {
    this.#isActive = false;
    this.#isStopped = true;
  }

  async #end(name: string, { cell, stopper }: Member): Promise<void> {
    await cell.drain(this.#options.shutdownMsMax);
    stopper.abort(new SetpointError(errCluster, `cluster "${name}" has been removed`));
    await cell.close();
    this.#members.delete(name);
    cell.forgetMetrics();
    this.#options.log.info("Removed cluster", { cluster: name });
  }
}
