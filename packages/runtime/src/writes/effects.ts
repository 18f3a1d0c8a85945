/** Effects on the world outside of the cluster: each at most once, whatever crashes. */
import { SetpointError } from "@setpoint/apimachinery";
import { errLedger } from "../errors.ts";
import type { Effect } from "../controller/reconcile-context.ts";
import type { LedgerKeeper } from "./ledger-keeper.ts";
import { kept, recordOf, withEffect, type Json, type Ledger } from "../controller/ledger.ts";

const idLengthMax = 128;

export interface EffectPorts {
  readonly keeper: LedgerKeeper;
  readonly controller: string;
  readonly uid: string;
  readonly signal: AbortSignal;
  /** Ends a dry run. */
  changesOutside(this: void, what: string): void;
  /** Throws when this process may not write any more. */
  assertMayWrite(this: void): void;
}

export class Effects {
  readonly #ports: EffectPorts;
  /** Under way in this run, so that two calls with one id are one effect. */
  readonly #running = new Map<string, Promise<Json>>();

  constructor(ports: EffectPorts) {
    this.#ports = ports;
  }

  /**
   * Guarantees: `do` runs at most once for an id and UID as long as `find` is truthful: it runs only after
   * `find` has found nothing and the intent is written to the object as it is on the server.
   */
  effect<R extends Json>(id: string, effect: Effect<R>): Promise<R> {
    const { keeper } = this.#ports;
    keeper.requireDeclared("effect");
    requireId(id);
    const running = this.#running.get(id) ?? this.#run(id, effect).finally(() => this.#running.delete(id));
    this.#running.set(id, running);
    // The result of an id has the type of the effect of that id.
    return running as Promise<R>;
  }

  async #run<R extends Json>(id: string, effect: Effect<R>): Promise<Json> {
    const { keeper, controller, uid, signal, assertMayWrite, changesOutside } = this.#ports;
    const record = recordOf(keeper.read().effects, id);
    if (record?.state === "done") return record.result;
    signal.throwIfAborted();
    const key = `${uid}/${controller}/${id}`;
    // A stale record does no harm: the intent below is written only over the newest ledger.
    const intendedSince = record?.state === "intended" ? record.since : undefined;
    const found = await effect.find(key, { intendedSince });
    if (found !== undefined) return this.#record(id, found);
    changesOutside(`execute effect "${id}"`);
    await keeper.write((ledger) => intended(ledger, id, keeper.now));
    // Between the intent and the effect nothing is awaited. The signal alone would come late after a pause of
    // the process: by then the lease may be another's, so the clock is asked, as before a write.
    signal.throwIfAborted();
    assertMayWrite();
    return this.#record(id, await effect.do(key));
  }

  async #record(id: string, result: Json): Promise<Json> {
    const { keeper } = this.#ports;
    const done = kept(`effect "${id}"`, result);
    await keeper.write((ledger) => withEffect(ledger, id, { state: "done", result: done }));
    return done;
  }
}

function intended(ledger: Ledger, id: string, since: string): Ledger {
  return recordOf(ledger.effects, id)?.state === "intended"
    ? ledger
    : withEffect(ledger, id, { state: "intended", since });
}

function requireId(id: string): void {
  if (id.length > 0 && id.length <= idLengthMax) return;
  throw new SetpointError(errLedger, `Cannot begin effect "${id}": an id has 1 to ${idLengthMax} characters`);
}
