/** Selectors whose expressions are none. */
import { labelSelectorOf } from "setpoint/kinds";
import type { Selector } from "../kind/scrape-fields.ts";
import { refuse, type Refusal } from "./refusal.ts";

export function checkSelector(selector: Selector): Refusal | undefined {
  try {
    labelSelectorOf(selector);
    return undefined;
  } catch (error) {
    return refuse("selector", `it is not valid: ${error instanceof Error ? error.message : String(error)}`);
  }
}
