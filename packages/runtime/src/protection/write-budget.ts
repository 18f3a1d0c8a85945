import type { Host, Logger } from "@setpoint/host";
import type { PlannedWrite, WriteGuard } from "../writes/write-guard.ts";
import { errWriteBudget, TemporaryError } from "../errors.ts";
import { TokenBucket } from "./token-bucket.ts";
import { allowWritesAnnotation, type WriteLimits } from "../controller/write-limits.ts";

const deleteWindowMs = 60_000;
const changeWindowMs = 600_000;
/** So many children may always be changed: a share of three is none. */
const changesMin = 5;
/**
 * Parts of the refill are waited for, but not less than this: the runs that are refused cost something too.
 */
const retryDelayMsMin = 1_000;

export interface WriteBudgetOptions {
  readonly controller: string;
  readonly limits: WriteLimits;
  readonly host: Host;
  readonly log: Logger;
  /** All present children of all objects of the controller. */
  childCount(): number;
}

/**
 * A breaker: refuses what goes beyond the controller's limits, until time has refilled them or a person
 * allows it.
 */
export class WriteBudget implements Pick<WriteGuard, "check"> {
  readonly #options: WriteBudgetOptions;
  readonly #deletes = new TokenBucket(deleteWindowMs);
  readonly #changes = new TokenBucket(changeWindowMs);

  constructor(options: WriteBudgetOptions) {
    this.#options = options;
  }

  check(write: PlannedWrite): void {
    const { deletesPerMinute, childrenChangedShare } = this.#options.limits;
    if (write.object.metadata.uid === write.parent.metadata.uid) return;
    if (write.parent.metadata.annotations?.[allowWritesAnnotation] === "true") return;
    const nowMs = this.#options.host.clock.monotonic();
    if (write.verb === "delete" && deletesPerMinute !== undefined) {
      const waitMs = this.#deletes.take(deletesPerMinute, nowMs);
      if (waitMs > 0) this.#refuse(write, waitMs, `its limit of ${deletesPerMinute} deletions a minute is reached`);
    }
    if (childrenChangedShare === undefined || write.isNew) return;
    const capacity = Math.max(changesMin, Math.floor(childrenChangedShare * this.#options.childCount()));
    const waitMs = this.#changes.take(capacity, nowMs);
    const percent = Math.round(childrenChangedShare * 100);
    if (waitMs > 0) this.#refuse(write, waitMs, `its limit of ${percent} % of its children in ten minutes is reached`);
  }

  #refuse({ verb, kind, parent }: PlannedWrite, waitMs: number, why: string): never {
    const { controller, host, log } = this.#options;
    const retryDelayMs = Math.max(waitMs, retryDelayMsMin);
    host.metrics
      .counter("setpoint_write_budget_refusals_total", "Writes that a controller's limits have refused.")
      .add(1, { controller, verb });
    log.warn("Write was refused by the controller's limits", { verb, resource: kind.plural, retryDelayMs });
    // No names and times that change from one refusal to the next: it becomes a condition and an event.
    const message = `Cannot ${verb} ${kind.kind} of ${parent.kind} "${parent.metadata.name}": controller "${controller}" must wait, ${why}; it goes on by itself, or at once when the ${parent.kind} has the annotation ${allowWritesAnnotation}=true`;
    throw new TemporaryError(message, retryDelayMs, { code: errWriteBudget });
  }
}
