/** Checks the worst-case cost of a CRD's rules: of each, and of all together. */
import type { FieldError } from "@setpoint/apimachinery";
import { requestBytesMax, type DeclaredSize } from "./declared-size.ts";
import { costMax } from "./estimate.ts";

/** The limits of kube-apiserver. */
const ruleCostMax = 10_000_000;
const totalCostMax = 100_000_000;
/** How many rules are named when the total is too high. */
const namedRulesMax = 4;

/**
 * How often a value of a schema may occur in an object: `undefined` when lists or maps above it have no
 * maximum.
 */
export type Cardinality = number | undefined;

export class CostBudget {
  #total = 0;
  #expensive: { readonly field: string; readonly cost: number }[] = [];

  /** Counts an expression at `field`, and returns an error when it alone is too expensive. */
  observe(field: string, what: string, cost: number): readonly FieldError[] {
    this.#total = Math.min(costMax, this.#total + cost);
    if (cost >= totalCostMax / 100) {
      this.#expensive.push({ field, cost });
      this.#expensive = this.#expensive.toSorted((a, b) => b.cost - a.cost).slice(0, namedRulesMax);
    }
    if (cost <= ruleCostMax) return [];
    return [{ type: "FieldValueForbidden", field, message: `Forbidden: ${excess(what, cost, ruleCostMax)}` }];
  }

  /** The errors of all rules together; `path` is the path of the schema. */
  errors(path: string): readonly FieldError[] {
    if (this.#total <= totalCostMax) return [];
    const why = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
    const what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
    return [
      ...this.#expensive.map(({ field }): FieldError => ({
        type: "FieldValueForbidden",
        field,
        message: `Forbidden: ${why}`,
      })),
      { type: "FieldValueForbidden", field: path, message: `Forbidden: ${excess(what, this.#total, totalCostMax)}` },
    ];
  }
}

/** The cost of an expression for all values that it is run for. */
export function costOfAll(cost: number, cardinality: Cardinality, declared: DeclaredSize): number {
  const count = cardinality ?? Math.floor(requestBytesMax / (declared.jsonMin + 1));
  return Math.min(costMax, cost * count);
}

function excess(what: string, cost: number, max: number): string {
  const factor = cost / max;
  const text = factor > 100 ? "more than 100x" : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${what} exceeds budget by factor of ${text} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}
