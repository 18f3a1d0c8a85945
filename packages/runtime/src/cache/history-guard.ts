import type { KubeObject } from "@setpoint/apimachinery";
import type { Client, KindRef } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import type { ObjectSelection } from "./kind-lister.ts";
import { LostHistory, lostHistoryProblem } from "./lost-history.ts";
import type { ToldProblem } from "./told-problem.ts";
import type { WatchPosition } from "./watch-position.ts";

export interface HistoryGuardPorts {
  readonly client: Client;
  readonly host: Host;
  readonly kind: KindRef;
  readonly selection: ObjectSelection;
  readonly position: WatchPosition;
  readonly problem: ToldProblem;
  /** The cluster has gone back in time: the next list is the truth, whatever its revisions are. */
  restored(): void;
}

/** Compares the server's newest revisions with what was seen, and notices when the cluster has gone back in time. */
export class HistoryGuard {
  readonly #ports: HistoryGuardPorts;
  readonly #history: LostHistory;

  constructor(ports: HistoryGuardPorts) {
    this.#ports = ports;
    this.#history = new LostHistory(ports.host.clock);
  }

  /** Whether the server seems to have gone back in time. */
  get isSuspected(): boolean {
    return this.#history.isSuspected;
  }

  /** Of the revision of a consistent list. */
  assertNotOlder(resourceVersion: string): void {
    const { kind, position, problem } = this.#ports;
    if (this.#history.isProvenBy(resourceVersion, position.newest)) return this.#beginAnew(resourceVersion);
    if (!this.#history.isSuspected) return;
    problem.note(lostHistoryProblem(kind.plural, resourceVersion, position.newest));
    throw new Error(
      `the list is of revision ${resourceVersion}, older than ${position.newest}, which was seen already`,
    );
  }

  /** Asks the server for its newest revision, which no replica may answer from memory. */
  async askNewest(signal: AbortSignal): Promise<void> {
    const { client, host, kind, selection } = this.#ports;
    try {
      const { metadata } = await client.list<KubeObject>(kind, { ...selection, limit: 1, signal });
      if (metadata.resourceVersion !== undefined) this.assertNotOlder(metadata.resourceVersion);
    } catch (error) {
      host.log.debug("Asked for the newest revision", { resource: kind.plural, error });
    }
  }

  /** What was seen is of a history that is no more. */
  #beginAnew(resourceVersion: string): never {
    const { host, kind, position } = this.#ports;
    const seen = position.newest;
    this.#history.accept();
    position.beginAnew();
    this.#ports.restored();
    host.log.error("Cluster has gone back in time; listing anew", {
      resource: kind.plural,
      ...{ seen, newest: resourceVersion },
    });
    throw new Error(`the history that reached ${seen} is no more: the server's newest revision is ${resourceVersion}`);
  }
}
