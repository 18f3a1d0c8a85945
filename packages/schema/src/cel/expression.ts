/** Expressions over several named values, as webhooks' match conditions and admission policies have them. */
import type { StructuralSchema } from "../structural-schema.ts";
import { jsonOf, jsonValue } from "./json-values.ts";
import type { MessageNames } from "./checker.ts";
import { compile, type Program } from "./program.ts";
import { authorizerTypes, authorizerValues, type CelAuthorizer } from "./library/authorizers.ts";
import type { Shape } from "./schema-values.ts";
import { shapeOf } from "./shape.ts";
import { dynType, typeText, type CelType } from "./type.ts";
import { CelFault, CelMap, type Value } from "./value.ts";

/** What one expression may cost at run time, as in Kubernetes. */
const expressionCostMax = 1_000_000;

/** A compiled expression; only the environment that compiled it can run it. */
export interface CelExpression {
  readonly source: string;
  /** As CEL prints it: `bool`, `string`, `dyn`. */
  readonly type: string;
}

/** The value of an expression as JSON, or the message of its runtime error. */
export type CelResult = { readonly value: unknown } | { readonly error: string };

/**
 * Several expressions about the same values, under one budget. Named expressions are evaluated once, when
 * first read.
 */
export interface CelEvaluation {
  /** The value as JSON, or what went wrong. */
  run(expression: CelExpression): CelResult;
}

/** The variables, functions and cost limit that expressions of an environment have. */
export interface CelEnvironmentOptions {
  /** The variables and the type of each: a schema, or unknown ("dyn"). */
  readonly variables: Readonly<Record<string, StructuralSchema | "dyn">>;
  /** What all expressions of one evaluation may cost together. */
  readonly costMax: number;
  /** Whether expressions may check permissions: `authorizer` and `authorizer.requestResource`. */
  readonly authorizes?: boolean;
  /**
   * Whether expressions may make `Object{…}` and `JSONPatch{…}`, as those of mutations do; the result is
   * JSON.
   */
  readonly mutates?: boolean;
}

interface Compiled extends CelExpression {
  readonly program: Program;
  readonly isPlain: boolean;
}

const namedExpressions = "variables";

const noMessage: MessageNames = () => false;

/** The messages that the expression of a mutating policy creates. */
const isPatchMessage: MessageNames = (name) => name === "JSONPatch" || name === "Object" || name.startsWith("Object.");

/**
 * Compiles CEL expressions and evaluates them against variables, with Kubernetes' libraries and cost limits.
 */
export class CelEnvironment {
  readonly #shapes = new Map<string, Shape | undefined>();
  readonly #types = new Map<string, CelType>();
  readonly #namedTypes = new Map<string, CelType>();
  readonly #named = new Map<string, Compiled>();
  /** The same without the authorizer. */
  readonly #plainTypes: ReadonlyMap<string, CelType>;
  readonly #costMax: number;
  readonly #messages: MessageNames;

  constructor({ variables, costMax, authorizes = false, mutates = false }: CelEnvironmentOptions) {
    this.#costMax = costMax;
    this.#messages = mutates ? isPatchMessage : noMessage;
    for (const [name, schema] of Object.entries(variables)) {
      const shape = schema === "dyn" ? undefined : shapeOf(schema, false, name);
      this.#shapes.set(name, shape);
      this.#types.set(name, shape?.type ?? dynType);
    }
    this.#types.set(namedExpressions, { kind: "object", name: "kubernetes.variables", fields: this.#namedTypes });
    this.#plainTypes = new Map(this.#types);
    // After all others, so that their places are the same with and without.
    if (authorizes) for (const [name, type] of authorizerTypes) this.#types.set(name, type);
  }

  /**
   * The compiled expression, or its errors. `isPlain`: it has no `authorizer`, even if the environment has
   * one.
   */
  compile(source: string, { isPlain = false }: { readonly isPlain?: boolean } = {}): CelExpression | string {
    const program = compile(source, isPlain ? this.#plainTypes : this.#types, undefined, this.#messages);
    if (typeof program === "string") return program;
    const compiled: Compiled = { source, program, isPlain, type: typeText(program.type) };
    return compiled;
  }

  /** Later expressions can read `variables.NAME`. Returns the errors of the source. */
  define(name: string, source: string): string | undefined {
    const compiled = this.compile(source);
    if (typeof compiled === "string") return compiled;
    // Made by the line above.
    const named = compiled as Compiled;
    this.#named.set(name, named);
    this.#namedTypes.set(name, named.program.type);
    return undefined;
  }

  /** Without an authorizer, expressions that use one fail. */
  evaluate(values: Readonly<Record<string, unknown>>, authorizer?: CelAuthorizer): CelEvaluation {
    let budget = this.#costMax;
    const shaped = [...this.#shapes].map(([name, shape]) => wrap(shape, values[name]));
    const run = ({ program }: Compiled, all: readonly Value[]): Value => {
      const { value, cost, isCancelled } = program.run(all, expressionCostMax);
      budget -= cost;
      if (isCancelled) return new CelFault("operation cancelled: actual cost limit exceeded");
      if (budget < 0) return new CelFault("validation failed due to running out of cost budget");
      return value;
    };
    const seen = (asked: readonly Value[]): readonly Value[] => {
      const all: Value[] = [...shaped, new NamedValues(this.#named, (each) => run(each, all)), ...asked];
      return all;
    };
    const all = seen(authorizer === undefined ? [] : authorizerValues(authorizer));
    // Named expressions that ask the authorizer fail in a plain one, as upstream.
    const plain = seen([]);
    return {
      run: (expression) => {
        // Expressions come from `compile` of this class alone.
        const compiled = expression as Compiled;
        const value = run(compiled, compiled.isPlain ? plain : all);
        return value instanceof CelFault ? { error: value.message } : { value: jsonOf(value) };
      },
    };
  }
}

function wrap(shape: Shape | undefined, json: unknown): Value {
  return shape === undefined || json === undefined || json === null ? jsonValue(json) : shape.wrap(json);
}

/** `variables`: each is computed when it is read for the first time. */
class NamedValues extends CelMap {
  readonly #expressions: ReadonlyMap<string, Compiled>;
  readonly #run: (expression: Compiled) => Value;
  readonly #known = new Map<string, Value>();

  constructor(expressions: ReadonlyMap<string, Compiled>, run: (expression: Compiled) => Value) {
    super();
    this.#expressions = expressions;
    this.#run = run;
  }

  get size(): number {
    return this.#expressions.size;
  }

  get(key: Value): Value | undefined {
    const expression = typeof key === "string" ? this.#expressions.get(key) : undefined;
    if (expression === undefined || typeof key !== "string") return undefined;
    const known = this.#known.get(key) ?? this.#run(expression);
    this.#known.set(key, known);
    return known;
  }

  keys(): readonly Value[] {
    return Array.from(this.#expressions.keys());
  }
}
