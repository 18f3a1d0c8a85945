import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import type { ControllerDefinition } from "@setpoint/runtime";
import type { PolicyRule } from "./policy-rule.ts";
import { leaseRules, rulesOf, type WriteVerb } from "./rules-of.ts";

/** An operator as data: what runs it, installs it and documents it reads this. */
export interface Operator {
  readonly name: string;
  readonly controllers: readonly ControllerDefinition[];
  /** The kinds that this operator brings: those that were made by `defineKind`. */
  readonly kinds: readonly KindRef[];
  /** What its service account must be allowed in the namespaces that it works in. */
  readonly rules: readonly PolicyRule[];
  /** What it must be allowed in its own namespace: its lease. */
  readonly ownRules: readonly PolicyRule[];
  /** The CustomResourceDefinitions of `kinds`. */
  crds(): readonly KubeObject[];
}

export interface OperatorInit {
  readonly name: string;
  readonly controllers: readonly ControllerDefinition[];
  /** Kinds without a controller of their own. */
  readonly kinds?: readonly KindRef[];
  /**
   * What is done to owned kinds besides reading, where that is less than the default: `create`, `patch` and `delete`, as
   * applying and pruning children needs.
   */
  readonly writes?: ReadonlyMap<KindRef, readonly WriteVerb[]>;
  /** Rules beyond those that follow from the controllers: whatever `ctx.client` is used for. */
  readonly permissions?: readonly PolicyRule[];
}

/** A kind that can say its own CustomResourceDefinition. */
interface KindWithCrd extends KindRef {
  crd(): KubeObject;
}

/** Puts controllers together into an operator. */
export function defineOperator(init: OperatorInit): Operator {
  const kinds = kindsOf(init);
  return {
    name: init.name,
    controllers: init.controllers,
    kinds,
    rules: rulesOf(init.controllers, init.writes ?? new Map(), init.permissions ?? []),
    ownRules: leaseRules(init.name),
    crds: () => kinds.map((kind) => kind.crd()),
  };
}

function kindsOf(init: OperatorInit): readonly KindWithCrd[] {
  const all = [
    ...init.controllers.flatMap(({ kind, owns, watches }) => [kind, ...owns, ...watches.map((each) => each.of)]),
    ...(init.kinds ?? []),
  ];
  return [...new Set(all)].filter(hasCrd);
}

function hasCrd(kind: KindRef): kind is KindWithCrd {
  return "crd" in kind && typeof kind.crd === "function";
}
