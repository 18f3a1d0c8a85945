/** Admission policies and their bindings, compiled as they are stored. */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import type { CelEnvironment, CelExpression } from "@setpoint/schema/cel";
import type { Storage } from "../storage/storage.ts";
import { policyEnvironment } from "../registry/admissionregistration/expression-environment.ts";
import {
  type BindingSpec,
  mutationSource,
  type PolicySpec,
  type PolicyValidation,
} from "../registry/admissionregistration/policy-spec.ts";

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

/** A message to users must not depend on their permissions, so its environment has no `authorizer`. */
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
