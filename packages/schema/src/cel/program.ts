/** Compiles an expression from its source to a program. */
import { check, type MessageNames } from "./checker.ts";
import type { DeclaredSize } from "./declared-size.ts";
import { estimateCost } from "./estimate.ts";
import { CostExceeded, Frame } from "./frame.ts";
import { plan } from "./interpreter.ts";
import { issuesText } from "./issue.ts";
import { parse } from "./parser.ts";
import type { CelType } from "./type.ts";
import type { Value } from "./value.ts";

const undeclared: DeclaredSize = { max: 0, jsonMin: 0 };

export interface Program {
  readonly type: CelType;
  /** Names of variables that the expression reads. */
  readonly variables: ReadonlySet<string>;
  /** What a run may cost at worst, when data are as large as declared. */
  readonly worstCost: number;
  /** `values` are in the order in which the variables were declared. Throws `CostExceeded`. */
  run(values: readonly Value[], costLimit: number): Outcome;
}

export interface Outcome {
  /** A `CelFault` when the expression failed. */
  readonly value: Value;
  readonly cost: number;
  /** The expression cost more than it may; `value` means nothing then. */
  readonly isCancelled: boolean;
}

/**
 * The program, or all that is wrong with the source as one text. `root` is what all variables are declared
 * as.
 */
export function compile(
  source: string,
  variables: ReadonlyMap<string, CelType>,
  root: DeclaredSize = undeclared,
  messages: MessageNames = () => false,
): Program | string {
  const { expr, issues } = parse(source);
  if (expr === undefined) return issuesText(source, issues);
  const checked = check(expr, variables, messages);
  if (checked.issues.length > 0) return issuesText(source, checked.issues);
  const { step, slots } = plan(expr, checked, Array.from(variables.keys()));
  return {
    type: checked.type,
    variables: checked.variables,
    worstCost: estimateCost(expr, checked, root),
    run: (values, costLimit) => {
      const frame = new Frame(values, slots, costLimit);
      try {
        const value = step(frame);
        return { value, cost: frame.cost, isCancelled: false };
      } catch (error) {
        if (!(error instanceof CostExceeded)) throw error;
        return { value: null, cost: frame.cost, isCancelled: true };
      }
    },
  };
}
