/** Repairs a damaged store from its own copies; with permission it continues without the lost records. */
import { SetpointError } from "@setpoint/apimachinery";
import { checkStore, refuseNoStore } from "./check-store.ts";
import { finishReplacement, replaceStore } from "./replace-store.ts";
import { nextEpoch, salvageStore } from "./salvage.ts";
import { filesOf } from "./store-files.ts";

/** What a repair has done. */
export interface StoreRepair {
  /**
   * `sound`: there was nothing to do. `repaired`: nothing is lost. `accepted`: the findings are lost,
   * revisions jump.
   */
  readonly outcome: "sound" | "repaired" | "accepted";
  readonly findings: readonly string[];
  readonly objects: number;
  readonly revision: number | undefined;
  /** Where the old files are. */
  readonly aside?: string;
}

/**
 * Repairs the store in `directory`. Without `acceptLoss` only when the copies have everything that was
 * acknowledged.
 *
 * Errors: `ERR_STORE_LOSS` when something is lost and that is not accepted, `ERR_DATA_DIR_IN_USE`,
 * `ERR_NO_STORE`.
 */
export function repairStore(directory: string, options: { readonly acceptLoss: boolean }): StoreRepair {
  const files = filesOf(directory);
  refuseNoStore(files);
  finishReplacement(directory);
  const { findings, objects, revision } = checkStore(directory);
  if (findings.length === 0) return { outcome: "sound", findings, objects, revision };
  const { records, newest, isComplete } = salvageStore(files);
  if (!isComplete && !options.acceptLoss) throw lossRefused(directory, findings, records.size);
  const head = isComplete && newest !== undefined ? newest : nextEpoch(records, newest);
  const aside = replaceStore(directory, records, head);
  const outcome = isComplete ? "repaired" : "accepted";
  return { outcome, findings, objects: records.size, revision: head.revision, aside };
}

function lossRefused(directory: string, findings: readonly string[], sound: number): SetpointError {
  const list = findings.map((each) => `\n  ${each}`).join("");
  const advice = `${sound} objects are sound. Restore a backup, or keep these with --accept-loss: clients then list again.`;
  return new SetpointError(
    "ERR_STORE_LOSS",
    `Cannot repair the store in "${directory}" without a loss:${list}\n${advice}`,
  );
}
