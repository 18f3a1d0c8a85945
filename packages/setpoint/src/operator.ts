import { groupResource, type KubeObject, SetpointError } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import { checkControllers, type ControllerDefinition, type WebhookDefinition } from "@setpoint/runtime";
import type { CrdOptions } from "@setpoint/schema";
import type { AdmissionPolicy } from "./admission-policy.ts";
import { dataPolicies, dataRules } from "./data-kinds.ts";
import { ownKinds } from "./own-kinds.ts";
import type { PolicyRule } from "./policy-rule.ts";
import type { RunSettings } from "./run-settings.ts";
import { leaseRules, rulesOf, type WriteVerb } from "./rules-of.ts";
import { secretRules, webhookRules } from "./webhook-rules.ts";

/** An operator as data: what runs it, installs it and documents it reads this. */
export interface Operator {
  readonly name: string;
  readonly controllers: readonly ControllerDefinition[];
  /** The kinds that this operator brings: those that were made by `defineKind`. */
  readonly kinds: readonly KindRef[];
  /** What its service account must be allowed in the namespaces that it works in. */
  readonly rules: readonly PolicyRule[];
  /** Whether its replicas share the keys; else one leads and the others stand by. */
  readonly isSharded: boolean;
  /** What it must be allowed in its own namespace: its lease. */
  readonly ownRules: readonly PolicyRule[];
  /** Functions that the API server asks before it accepts a write. */
  readonly webhooks: readonly WebhookDefinition[];
  /** Rules that the API server itself checks. */
  readonly policies: readonly AdmissionPolicy[];
  /** How its manager works. */
  readonly run?: RunSettings;
  /** The images of the pods that it creates, besides its own; who mirrors a registry copies these. */
  readonly relatedImages: readonly RelatedImage[];
  /**
   * The CustomResourceDefinitions of `kinds`; with `conversion`, kinds with several versions are served in
   * all of them.
   */
  crds(options?: CrdOptions): readonly KubeObject[];
}

/** An image that an operator uses, under a name such as `etcd-3.5.16`. */
export interface RelatedImage {
  readonly name: string;
  readonly image: string;
}

/** An operator as its author declares it: a name, controllers and the rights that they need. */
export interface OperatorInit {
  readonly name: string;
  readonly controllers: readonly ControllerDefinition[];
  /** All replicas work, each for its share of the objects; default: one leads and the others stand by. */
  readonly sharded?: boolean;
  /** Kinds without a controller of their own. */
  readonly kinds?: readonly KindRef[];
  /**
   * What is done to owned kinds besides reading, where that is less than the default: `create`, `patch` and
   * `delete`, as applying and pruning children needs.
   */
  readonly writes?: ReadonlyMap<KindRef, readonly WriteVerb[]>;
  /** What `webhooks(kind, …)` made, one a kind. */
  readonly webhooks?: readonly WebhookDefinition[];
  /** What `admissionPolicy(kind, …)` made. */
  readonly policies?: readonly AdmissionPolicy[];
  /** Caches, indexes, clusters, health and lease: how the manager works wherever it is started. */
  readonly run?: RunSettings;
  /** The images of the pods that it creates, besides its own. */
  readonly relatedImages?: readonly RelatedImage[];
  /** Rules beyond those that follow from the controllers: whatever `ctx.client` is used for. */
  readonly permissions?: readonly PolicyRule[];
}

/**
 * Puts controllers together into an operator.
 *
 * Errors: `ERR_CONTROLLER_INVALID` for two controllers of one name, `ERR_KIND_TWICE` for two definitions of a
 * kind that differ, `ERR_WEBHOOK_INVALID` for two definitions of the webhooks of a kind.
 */
export function defineOperator(init: OperatorInit): Operator {
  checkControllers(`define operator "${init.name}"`, init.controllers);
  const kinds = ownKinds(init.name, usedKinds(init));
  const { webhooks = [], sharded: isSharded = false } = init;
  requireOneEach(init.name, webhooks);
  return {
    name: init.name,
    controllers: init.controllers,
    kinds,
    isSharded,
    ...(init.run === undefined ? {} : { run: init.run }),
    webhooks,
    relatedImages: init.relatedImages ?? [],
    policies: [...(init.policies ?? []), ...dataPolicies(init.name, init.controllers)],
    rules: [
      ...rulesOf(init.controllers, init.writes ?? new Map(), init.permissions ?? []),
      ...dataRules(init.controllers),
      ...webhookRules(init.name, webhooks, kinds),
    ],
    ownRules: [...leaseRules(init.name, isSharded), ...secretRules(init.name, webhooks, kinds)],
    crds: (options) => kinds.map((kind) => kind.crd(options)),
  };
}

function requireOneEach(operator: string, webhooks: readonly WebhookDefinition[]): void {
  const seen = new Set<string>();
  for (const { kind } of webhooks) {
    const name = groupResource({ group: kind.group, resource: kind.plural });
    if (seen.has(name)) {
      const message = `Cannot define operator "${operator}": ${name} has webhooks twice, expected one definition a kind`;
      throw new SetpointError("ERR_WEBHOOK_INVALID", message);
    }
    seen.add(name);
  }
}

/** All kinds that an operator names. */
function usedKinds({ controllers, kinds = [], webhooks = [] }: OperatorInit): readonly KindRef[] {
  return [
    ...controllers.flatMap(({ kind, owns, watches }) => [kind, ...owns, ...watches.map(({ of }) => of)]),
    ...kinds,
    ...webhooks.map(({ kind }) => kind),
  ];
}
