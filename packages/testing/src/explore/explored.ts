import type { Fault, FaultKind } from "../faults/fault.ts";
import type { Reference } from "../oracles/oracle.ts";
import type { MenuOptions } from "./fault-menu.ts";
import type { Story } from "./story.ts";

/** A story with its run without faults, and what could strike it. */
export interface Explored {
  readonly story: Story;
  readonly reference: Reference;
  readonly menu: MenuOptions;
  readonly faults: readonly Fault[];
  /** Where details take turns. */
  readonly firsts: readonly Fault[];
  readonly counts: Map<FaultKind, { cells: number; visited: number; struck: number; failed: number }>;
}
