/** Admission policies and their bindings, compiled as they are stored. */
import type { LabelSelectorObject, StatusReason, UnstructuredObject } from "@setpoint/apimachinery";
import { CelEnvironment, type CelExpression } from "@setpoint/schema/cel";
import type { Storage } from "../storage/storage.ts";
import { requestSchema } from "./match-conditions.ts";
import type { ResourceRule } from "./resource-rules.ts";
import type { MatchCondition } from "./webhook-configuration.ts";

export interface MatchResources {
  readonly resourceRules?: readonly ResourceRule[];
  readonly excludeResourceRules?: readonly ResourceRule[];
  readonly matchPolicy?: string;
  readonly namespaceSelector?: LabelSelectorObject;
  readonly objectSelector?: LabelSelectorObject;
}

export interface PolicyValidation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: StatusReason;
}

export interface PolicySpec {
  readonly paramKind?: { readonly apiVersion?: string; readonly kind?: string };
  readonly matchConstraints?: MatchResources;
  readonly matchConditions?: readonly MatchCondition[];
  readonly variables?: readonly { readonly name: string; readonly expression: string }[];
  readonly validations?: readonly PolicyValidation[];
  readonly auditAnnotations?: readonly { readonly key: string; readonly valueExpression: string }[];
  readonly failurePolicy?: "Fail" | "Ignore";
  /** MutatingAdmissionPolicy only. */
  readonly mutations?: readonly Mutation[];
  readonly reinvocationPolicy?: "Never" | "IfNeeded";
}

export interface Mutation {
  readonly patchType?: "ApplyConfiguration" | "JSONPatch";
  readonly applyConfiguration?: { readonly expression?: string };
  readonly jsonPatch?: { readonly expression?: string };
}

/** The expression that makes a mutation. */
export function mutationSource({ patchType, applyConfiguration, jsonPatch }: Mutation): string {
  return (patchType === "JSONPatch" ? jsonPatch?.expression : applyConfiguration?.expression) ?? "";
}

export interface ParamRef {
  readonly name?: string;
  readonly namespace?: string;
  readonly selector?: LabelSelectorObject;
  readonly parameterNotFoundAction?: "Allow" | "Deny";
}

export interface BindingSpec {
  readonly policyName?: string;
  readonly paramRef?: ParamRef;
  readonly matchResources?: MatchResources;
  readonly validationActions?: readonly string[];
}

/** An expression, or what is wrong with it. */
export type Compiled = CelExpression | string;

export interface CompiledValidation {
  readonly source: PolicyValidation;
  readonly expression: Compiled;
  readonly message: Compiled | undefined;
}

export interface CompiledPolicy {
  readonly name: string;
  readonly spec: PolicySpec;
  readonly environment: CelEnvironment;
  readonly conditions: readonly { readonly source: string; readonly expression: Compiled }[];
  readonly validations: readonly CompiledValidation[];
  readonly mutations: readonly CompiledMutation[];
}

export interface CompiledMutation {
  readonly source: string;
  readonly isJsonPatch: boolean;
  readonly expression: Compiled;
}

export interface BoundPolicy {
  readonly policy: CompiledPolicy;
  readonly binding: { readonly name: string; readonly spec: BindingSpec };
}

/** What all expressions of one policy may cost for one request. */
const policyCostMax = 10_000_000;

/** The environment of a policy's expressions, with its variables; `onIssue` hears what is wrong with these. */
export function policyEnvironment(
  { variables = [], paramKind, mutations }: PolicySpec,
  onIssue: (index: number, source: string, issue: string) => void = () => {},
): CelEnvironment {
  const params = paramKind === undefined ? {} : ({ params: "dyn" } as const);
  const environment = new CelEnvironment({
    variables: { object: "dyn", oldObject: "dyn", request: requestSchema, namespaceObject: "dyn", ...params },
    costMax: policyCostMax,
    authorizes: true,
    mutates: mutations !== undefined,
  });
  for (const [index, { name, expression }] of variables.entries()) {
    const issue = environment.define(name, expression);
    if (issue !== undefined) onIssue(index, expression, issue);
  }
  return environment;
}

/** What is told to users may not depend on what they are allowed. */
export function compileMessage(environment: CelEnvironment, source: string): Compiled {
  return environment.compile(source, { isPlain: true });
}

function compilePolicy(object: UnstructuredObject): CompiledPolicy {
  // The schema of the kind has checked its types.
  const spec = (object["spec"] ?? {}) as PolicySpec;
  const environment = policyEnvironment(spec);
  const { matchConditions = [], validations = [], mutations = [] } = spec;
  return {
    name: object.metadata.name ?? "",
    spec,
    environment,
    conditions: matchConditions.map(({ expression }) => ({
      source: expression,
      expression: environment.compile(expression),
    })),
    mutations: mutations.map((mutation) => ({
      source: mutationSource(mutation),
      isJsonPatch: mutation.patchType === "JSONPatch",
      expression: environment.compile(mutationSource(mutation)),
    })),
    validations: validations.map((source) => ({
      source,
      expression: environment.compile(source.expression),
      message:
        source.messageExpression === undefined ? undefined : compileMessage(environment, source.messageExpression),
    })),
  };
}

export type PolicyRole = "validating" | "mutating";

/** Follows policies and bindings; a policy without a binding decides nothing. */
export class PolicyList {
  readonly #policies = new Map<string, CompiledPolicy>();
  readonly #bindings = new Map<string, BoundPolicy["binding"]>();
  readonly #watches: readonly { cancel(): void }[];
  #bound: readonly BoundPolicy[] = [];

  constructor(storage: Storage, role: PolicyRole) {
    const prefix = `/admissionregistration.k8s.io/${role}admissionpolic`;
    this.#watches = [
      this.#follow(storage, `${prefix}ies`, this.#policies, compilePolicy),
      this.#follow(storage, `${prefix}ybindings`, this.#bindings, (object) => ({
        name: object.metadata.name ?? "",
        spec: (object["spec"] ?? {}) as BindingSpec,
      })),
    ];
  }

  /** In the order of the names of policies, then bindings. */
  get bound(): readonly BoundPolicy[] {
    return this.#bound;
  }

  stop(): void {
    for (const watch of this.#watches) watch.cancel();
  }

  #follow<T>(
    storage: Storage,
    at: string,
    known: Map<string, T>,
    read: (object: UnstructuredObject) => T,
  ): { cancel(): void } {
    const { revision, objects } = storage.list(at);
    for (const object of objects) known.set(object.metadata.name ?? "", read(object));
    this.#bind();
    return storage.watch(at, revision, ({ kind, object }) => {
      const name = object.metadata.name ?? "";
      if (kind === "put") known.set(name, read(object));
      else known.delete(name);
      this.#bind();
    });
  }

  #bind(): void {
    const bindings = [...this.#bindings.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const policies = [...this.#policies.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
    this.#bound = policies.flatMap((policy) =>
      bindings
        .filter(({ spec }) => spec.policyName === policy.name)
        .map((binding): BoundPolicy => ({ policy, binding })),
    );
  }
}
