/** Turns calls that are macros into their nodes. */
import { lookupTable } from "@setpoint/apimachinery";
import type { Call, Expr, LoopMacro } from "./ast.ts";
import type { Issue } from "./issue.ts";

const loops: Readonly<Record<string, LoopMacro>> = lookupTable({
  all: "all",
  exists: "exists",
  exists_one: "existsOne",
  existsOne: "existsOne",
  map: "map",
  filter: "filter",
  transformList: "transformList",
  transformMap: "transformMap",
  transformMapEntry: "transformMapEntry",
});

/** The expansion of a macro call; undefined for an ordinary call. */
export function expandMacro(call: Call, issues: Issue[]): Expr | undefined {
  const { name, target, args } = call;
  if (target === undefined) return name === "has" && args.length === 1 ? presence(call, issues) : undefined;
  if ((name === "optMap" || name === "optFlatMap") && args.length === 2) return optionalMap(call, target, issues);
  const macro = Object.hasOwn(loops, name) ? loops[name] : undefined;
  return macro === undefined ? undefined : loop(call, macro, target, issues);
}

function presence({ at, args }: Call, issues: Issue[]): Expr {
  const [field] = args;
  if (field?.kind === "select" && !field.isOptional)
    return { kind: "presence", at, operand: field.operand, field: field.field };
  issues.push({ at: field?.at ?? at, message: "invalid argument to has() macro" });
  return { kind: "literal", at, type: "bool", value: false };
}

/** How many variables and expressions each macro takes: [one variable, two variables]. */
const argumentCounts: Readonly<Record<LoopMacro, readonly [readonly number[], readonly number[]]>> = {
  all: [[2], [3]],
  exists: [[2], [3]],
  existsOne: [[2], [3]],
  map: [[2, 3], []],
  filter: [[2], []],
  transformList: [[], [3, 4]],
  transformMap: [[], [3, 4]],
  transformMapEntry: [[], [3, 4]],
};

function loop(call: Call, macro: LoopMacro, range: Expr, issues: Issue[]): Expr | undefined {
  const { at, args } = call;
  const [oneVariable, twoVariables] = argumentCounts[macro];
  const isTwo = twoVariables.includes(args.length);
  if (!isTwo && !oneVariable.includes(args.length)) return undefined;
  const variable = variableName(
    args[0],
    isTwo ? "argument must be a simple name" : "argument must be a simple name",
    issues,
  );
  const second = isTwo ? variableName(args[1], "argument must be a simple name", issues) : undefined;
  if (isTwo && variable !== "" && variable === second)
    issues.push({ at: args[1]?.at ?? at, message: `duplicate variable name: ${variable}` });
  const rest = args.slice(isTwo ? 2 : 1);
  const isTest = macro === "all" || macro === "exists" || macro === "existsOne" || macro === "filter";
  const condition = isTest || rest.length === 2 ? rest[0] : undefined;
  const transform = isTest ? undefined : rest.at(-1);
  return { kind: "loop", at, macro, range, variable, second, condition, transform };
}

function optionalMap({ at, name, args }: Call, operand: Expr, issues: Issue[]): Expr | undefined {
  const transform = args[1];
  if (transform === undefined) return undefined;
  const must = `${name}() variable name must be a simple identifier`;
  return {
    kind: "optionalMap",
    at,
    operand,
    variable: variableName(args[0], must, issues),
    transform,
    isFlat: name === "optFlatMap",
  };
}

function variableName(expr: Expr | undefined, must: string, issues: Issue[]): string {
  if (expr?.kind === "ident") return expr.name;
  issues.push({ at: expr?.at ?? 0, message: must });
  return "";
}
