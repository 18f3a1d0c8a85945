/** What the rules of the plan are asked about. */
import type { ActRecord } from "../kind/act-record.ts";
import type { Occasion } from "../seen/occasion.ts";
import type { Seen } from "../seen/seen.ts";

export interface Situation {
  readonly seen: Seen;
  readonly nowMs: number;
  readonly occasion: Occasion | undefined;
  /** The act under way as it is now. */
  readonly open: ActRecord | undefined;
}
