/**
 * Label selectors: the string form of requests (`app=web,tier in (a,b),!old`) and the object form of specs.
 */
import { parseRequirements } from "./label-selector-parser.ts";
import {
  createLabelRequirement,
  formatRequirement,
  type LabelOperator,
  type LabelRequirement,
  matchesRequirement,
} from "./label-requirement.ts";

/** The selector of a spec (meta/v1 LabelSelector). */
export interface LabelSelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelSelectorExpression[];
}

/**
 * A requirement of a spec's selector (meta/v1 LabelSelectorRequirement): In, NotIn, Exists or DoesNotExist.
 */
export interface LabelSelectorExpression {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** A selector: all requirements must hold. */
export class LabelSelector {
  /** Selects every object. */
  static readonly everything: LabelSelector = new LabelSelector([]);
  /** Selects no object at all; the meaning of an absent selector in most specs. */
  static readonly nothing: LabelSelector = new LabelSelector([], true);

  readonly requirements: readonly LabelRequirement[];
  readonly #isNothing: boolean;

  constructor(requirements: readonly LabelRequirement[], isNothing = false) {
    this.requirements = requirements;
    this.#isNothing = isNothing;
  }

  /** Whether every set of labels matches. */
  get isEverything(): boolean {
    return this.requirements.length === 0 && !this.#isNothing;
  }

  matches(labels: Readonly<Record<string, string>> | undefined): boolean {
    if (this.#isNothing) return false;
    return this.requirements.every((requirement) => matchesRequirement(requirement, labels ?? {}));
  }

  /** The string form, requirements sorted by key. */
  toString(): string {
    return this.requirements.map(formatRequirement).join(",");
  }
}

function byKey(a: LabelRequirement, b: LabelRequirement): number {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}

/** Parses the string form. Errors: `Error` with upstream's message, for a 400. */
export function parseLabelSelector(text: string): LabelSelector {
  if (text.trim() === "") return LabelSelector.everything;
  return new LabelSelector([...parseRequirements(text)].sort(byKey));
}

const operators: ReadonlyMap<string, LabelOperator> = new Map([
  ["In", "in"],
  ["NotIn", "notin"],
  ["Exists", "exists"],
  ["DoesNotExist", "!"],
]);

/**
 * The selector of a spec; an absent one selects nothing, an empty one everything. Errors: `Error` when it is
 * not valid.
 */
export function labelSelectorOf(object: LabelSelectorObject | undefined | null): LabelSelector {
  if (object === undefined || object === null) return LabelSelector.nothing;
  const labels = Object.entries(object.matchLabels ?? {});
  const requirements = labels.map(([key, value]) => createLabelRequirement(key, "=", [value]));
  for (const { key, operator, values } of object.matchExpressions ?? []) {
    const known = operators.get(operator);
    if (known === undefined) throw new Error(`${JSON.stringify(operator)} is not a valid label selector operator`);
    requirements.push(createLabelRequirement(key, known, values ?? []));
  }
  return new LabelSelector(requirements.sort(byKey));
}

type Labels = Readonly<Record<string, string>>;

/**
 * Whether labels match the selector of a spec; an absent one matches nothing. For selectors that the server
 * has validated: an operator that is none never matches. Controllers ask it for every selector of a namespace
 * whenever a pod changes, and users choose how long selectors are, so it stops at the first requirement that
 * does not hold.
 */
export function matchesLabelSelector(selector: LabelSelectorObject | undefined, labels: Labels): boolean {
  if (selector === undefined) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  for (const key in matchLabels) if (labelOf(labels, key) !== matchLabels[key]) return false;
  return matchExpressions.every((expression) => holds(expression, labelOf(labels, expression.key)));
}

function labelOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

function holds({ operator, values = [] }: LabelSelectorExpression, value: string | undefined): boolean {
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      return false;
  }
}
