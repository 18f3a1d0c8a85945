/** Ordered steps that go on where they stopped, also in another process. */
import { SetpointError } from "@setpoint/apimachinery";
import { errLedger } from "../errors.ts";
import type { LedgerKeeper } from "./ledger-keeper.ts";
import { kept, recordOf, stepsOf, withStepDone, withStepRunning, type Json } from "../controller/ledger.ts";
import type { ConditionInit, StepOptions } from "../controller/reconcile-context.ts";
import type { Result } from "../controller/result.ts";
import { Suspension } from "./suspension.ts";

export interface ProcedurePorts {
  readonly keeper: LedgerKeeper;
  readonly generation: number | undefined;
  /** Says in the status which step is under way. */
  announce(condition: ConditionInit): Promise<void>;
}

export class Procedure {
  readonly #ports: ProcedurePorts;
  #of: string | undefined;
  /** Names asked for in this run, and whether they are done. */
  readonly #asked = new Map<string, boolean>();
  #waiting: Suspension | undefined;

  constructor(ports: ProcedurePorts) {
    this.#ports = ports;
  }

  /**
   * Guarantees: a step that has returned is not run again for the same key; its result is the same in every
   * run. A step that was interrupted is run again, so it is idempotent, or uses `effect`. A `Result` from
   * `run` says that the step is not finished: the run of the object ends there with it, and comes back to
   * this step.
   */
  async step<R extends Json | void>(name: string, run: () => Promise<R | Result>, options: StepOptions): Promise<R> {
    const { keeper } = this.#ports;
    keeper.requireDeclared("step");
    const of = this.#begin(name, options);
    const record = recordOf(stepsOf(keeper.read(), of).done, name);
    if (record !== undefined) {
      this.#asked.set(name, true);
      // What was kept under this name is what the step returned.
      return record.result as R;
    }
    await keeper.write((ledger) => withStepRunning(ledger, of, name, keeper.now));
    await this.#ports.announce(underWay(name, stepsOf(keeper.read(), of).done));
    const result = await run();
    if (isResult(result)) throw (this.#waiting = new Suspension(`step "${name}"`, result));
    const done = result === undefined ? {} : { result: kept(`step "${name}"`, result) };
    await keeper.write((ledger) => withStepDone(ledger, of, name, done));
    this.#asked.set(name, true);
    return done.result as R;
  }

  /** When to come back to the step that waits, whatever has become of its error; undefined when none does. */
  get waitsFor(): Result | undefined {
    return this.#waiting?.result;
  }

  /** What the status says after a run that has ended well; nothing when it had no steps. */
  finished(): ConditionInit | undefined {
    const names = [...this.#asked.keys()];
    if (names.length === 0 || ![...this.#asked.values()].every(Boolean)) return undefined;
    return { type: stepsType, status: "True", reason: "AllDone", message: `Done: ${names.join(", ")}` };
  }

  #begin(name: string, options: StepOptions): string {
    const of = options.of ?? `generation ${this.#ports.generation ?? 0}`;
    if (this.#of !== undefined && this.#of !== of)
      throw new SetpointError(
        errLedger,
        `Cannot begin step "${name}" of "${of}": this run executes steps of "${this.#of}"`,
      );
    if (this.#asked.has(name))
      throw new SetpointError(errLedger, `Cannot begin step "${name}": this run already has a step of this name`);
    this.#of = of;
    this.#asked.set(name, false);
    return of;
  }
}

const stepsType = "StepsDone";

function underWay(name: string, done: Readonly<Record<string, unknown>>): ConditionInit {
  const before = Object.keys(done);
  const message =
    before.length === 0 ? `Step "${name}" is under way` : `Step "${name}" is under way, after ${before.join(", ")}`;
  return { type: stepsType, status: "False", reason: reasonOf(name), message };
}

/** `move data` → `MoveData`: a reason of a condition is one word. */
function reasonOf(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const reason = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return /^[A-Za-z]/.test(reason) ? reason : `Step${reason}`;
}

function isResult(value: unknown): value is Result {
  const kind = typeof value === "object" && value !== null ? (value as { readonly kind?: unknown }).kind : undefined;
  return kind === "awaitChange" || kind === "requeueAfter";
}
