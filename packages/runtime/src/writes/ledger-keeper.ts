/** Reads and writes the ledger of one object within one run. */
import { isConflict, SetpointError, type KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import { timestamp, type Clock } from "@setpoint/host";
import { errLedger, TerminalError } from "../errors.ts";
import { ledgerOf, ledgerPrefix, ledgerText, type Ledger } from "../controller/ledger.ts";

export interface LedgerPorts {
  readonly controller: string;
  readonly kind: string;
  /** Whether the controller has said that it keeps one. */
  readonly isDeclared: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The reconciled object as it is now, own writes included. */
  current(this: void): Stored<KubeObject>;
  /** The same from the server; undefined when it is gone or another. */
  fresh(this: void): Promise<Stored<KubeObject> | undefined>;
  /** Changes annotations, provided that nothing has changed since `object` was read. */
  annotate(this: void, object: Stored<KubeObject>, annotations: Readonly<Record<string, string>>): Promise<unknown>;
}

/** How often a write is tried again that met a change of the object which left the ledger alone. */
const attemptsMax = 4;

/**
 * Guarantees: what `write` has written rests on the newest ledger there is, so a process with an old view, or
 * a deposed one, fails before it does anything. Writes of one run follow each other.
 */
export class LedgerKeeper {
  readonly #ports: LedgerPorts;
  #last: Promise<unknown> = Promise.resolve();

  constructor(ports: LedgerPorts) {
    this.#ports = ports;
  }

  get now(): string {
    return timestamp(this.#ports.clock);
  }

  read(): Ledger {
    return ledgerOf(this.#ports.current(), this.#ports.controller);
  }

  /**
   * Makes sure that nobody else has gone on meanwhile: by the write, or by a look when there is nothing to
   * write.
   */
  write(change: (ledger: Ledger) => Ledger): Promise<void> {
    const written = this.#last.then(() => this.#write(change));
    this.#last = written.catch(() => {});
    return written;
  }

  requireDeclared(what: string): void {
    const { isDeclared, controller, kind } = this.#ports;
    if (isDeclared) return;
    throw new TerminalError(
      `Cannot use ${what} in controller "${controller}": declare \`ledger: true\` in it, so that it may annotate a ${kind}`,
    );
  }

  async #write(change: (ledger: Ledger) => Ledger): Promise<void> {
    const { controller, current, fresh, annotate, signal } = this.#ports;
    const basis = this.read();
    const wanted = change(basis);
    let object: Stored<KubeObject> | undefined = wanted === basis ? await fresh() : current();
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted();
      if (object === undefined || ledgerText(ledgerOf(object, controller)) !== ledgerText(basis))
        throw new SetpointError(
          errLedger,
          `Cannot continue as controller "${controller}": another process has changed the ledger`,
        );
      if (wanted === basis) return;
      try {
        await annotate(object, { [ledgerPrefix + controller]: ledgerText(wanted) });
        return;
      } catch (error) {
        if (!isConflict(error) || attempt >= attemptsMax) throw error;
        object = await fresh();
      }
    }
  }
}
