import { labelSelectorOf, type LabelSelectorObject } from "@setpoint/apimachinery";

/** Whether labels match a selector object; an absent selector matches nothing. */
export function matchesLabelSelector(
  selector: LabelSelectorObject | undefined,
  labels: Readonly<Record<string, string>>,
): boolean {
  return selector !== undefined && labelSelectorOf(selector).matches(labels);
}
