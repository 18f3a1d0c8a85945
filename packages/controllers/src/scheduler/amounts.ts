/** Amounts of resources as numbers: a scheduler compares many. */
import {
  podResources,
  quantityMilliValue,
  quantityValue,
  readAmounts,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import type { Pod } from "@setpoint/api";

/** CPU in thousandths, all others in whole units; both rounded up. */
export type Amounts = Readonly<Record<string, number>>;

type Quantities = ReturnType<typeof readAmounts>;

function toAmounts(quantities: Quantities): Amounts {
  const amounts: Record<string, number> = {};
  for (const [name, quantity] of Object.entries(quantities))
    amounts[name] = Number(name === "cpu" ? quantityMilliValue(quantity) : quantityValue(quantity));
  return amounts;
}

/** Quantities as an API object has them. */
export function amountsOf(quantities: Readonly<Record<string, unknown>>): Amounts {
  return toAmounts(readAmounts(quantities));
}

/** Cached pods are frozen, and every placement counts the requests of all of them. */
const known = new WeakMap<Pod, Amounts>();

/** What a pod asks for, as one pod. */
export function requestsOf(pod: Pod): Amounts {
  const found = known.get(pod);
  if (found !== undefined) return found;
  // A Pod is the object that its JSON describes.
  const amounts = { ...toAmounts(podResources(pod as unknown as UnstructuredObject, "requests")), pods: 1 };
  known.set(pod, amounts);
  return amounts;
}

export function addTo(sum: Record<string, number>, amounts: Amounts): void {
  for (const [name, amount] of Object.entries(amounts)) sum[name] = (sum[name] ?? 0) + amount;
}
