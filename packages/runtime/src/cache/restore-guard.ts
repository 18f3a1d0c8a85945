import type { KubeObject } from "@setpoint/apimachinery";
import type { Client, KindRef } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import type { ObjectSelection } from "./list-pager.ts";
import { RestoreDetector, restoreProblem } from "./restore-detector.ts";
import type { ReportedProblem } from "./reported-problem.ts";
import type { WatchPosition } from "./watch-position.ts";

export interface RestoreGuardPorts {
  readonly client: Client;
  readonly host: Host;
  readonly kind: KindRef;
  readonly selection: ObjectSelection;
  readonly position: WatchPosition;
  readonly problem: ReportedProblem;
  /** Called after a restore: the next list counts, whatever its revisions are. */
  restored(): void;
}

/**
 * Compares the server's newest revision with those seen before, and handles a restore of the cluster from a
 * backup.
 */
export class RestoreGuard {
  readonly #ports: RestoreGuardPorts;
  readonly #detector: RestoreDetector;

  constructor(ports: RestoreGuardPorts) {
    this.#ports = ports;
    this.#detector = new RestoreDetector(ports.host.clock);
  }

  /** Whether the cluster seems to have been restored. */
  get isSuspected(): boolean {
    return this.#detector.isSuspected;
  }

  /** Throws when a consistent list is older than what was seen. */
  assertNotOlder(resourceVersion: string): void {
    const { kind, position, problem } = this.#ports;
    if (this.#detector.isProvenBy(resourceVersion, position.newest)) return this.#startOver(resourceVersion);
    if (!this.#detector.isSuspected) return;
    problem.report(restoreProblem(kind.plural, resourceVersion, position.newest));
    throw new Error(
      `Cannot use a list of revision ${resourceVersion}: it is older than ${position.newest}, which the server sent before`,
    );
  }

  /** Asks the server for its newest revision, which no replica may answer from memory. */
  async askNewest(signal: AbortSignal): Promise<void> {
    const { client, host, kind, selection } = this.#ports;
    try {
      const { metadata } = await client.list<KubeObject>(kind, { ...selection, limit: 1, signal });
      if (metadata.resourceVersion !== undefined) this.assertNotOlder(metadata.resourceVersion);
    } catch (error) {
      host.log.debug("Newest revision is unknown", { resource: kind.plural, error });
    }
  }

  /** Forgets the revisions from before the restore. */
  #startOver(resourceVersion: string): never {
    const { host, kind, position } = this.#ports;
    const seen = position.newest;
    this.#detector.accept();
    position.reset();
    this.#ports.restored();
    host.log.error("Cluster was restored from a backup; relisting", {
      resource: kind.plural,
      ...{ seen, newest: resourceVersion },
    });
    throw new Error(
      `Cannot resume the watch at revision ${seen}: the cluster was restored, its newest revision is ${resourceVersion}`,
    );
  }
}
