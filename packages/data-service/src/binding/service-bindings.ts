/** The controller of ServiceBindings for one engine. */
import type { KubeObject } from "@setpoint/apimachinery";
import { Secret } from "setpoint/kinds";
import { controller, keyOf, type ReconcileContext, type Result, seconds, type Stored, watching } from "setpoint";
import type { PolicyRule } from "setpoint/install";
import { BoundedMap } from "../engine/bounded-map.ts";
import { type Login, ServiceBinding } from "../kinds/service-binding.ts";
import { bindingActions } from "./binding-actions.ts";
import { bindingLabel } from "./binding-secret.ts";
import { bindingConditions, bindingStatus } from "./binding-status.ts";
import { cachedAccess } from "./instance-access.ts";
import { type EngineWithUsers, observeBinding } from "./observe-binding.ts";
import { OverlapTimer } from "./overlap-timer.ts";
import { planBinding } from "./plan-binding.ts";

type Controller = ReturnType<typeof controller>;

/** What a controller of bindings needs beyond what follows from its declaration. */
export const serviceBindingRules: readonly PolicyRule[] = [
  // Reading them follows from the watch.
  { apiGroups: [""], resources: ["secrets"], verbs: ["create", "patch"] },
  // The Secret's owner reference blocks the deletion of its owner.
  { apiGroups: [ServiceBinding.group], resources: [`${ServiceBinding.plural}/finalizers`], verbs: ["update"] },
];

/**
 * A user for each ServiceBinding of the engine's kind, its Secret, and its rotation. Hand
 * `serviceBindingRules` to the operator's `permissions`.
 */
export function serviceBindings<Instance extends KubeObject>(engine: EngineWithUsers<Instance>): Controller {
  return bindingController(engine, planBinding);
}

/** The same with any plan, so that tests can show that a wrong one is found. */
export function bindingController<Instance extends KubeObject>(
  engine: EngineWithUsers<Instance>,
  plan: typeof planBinding,
): Controller {
  const { group, kind } = engine.kind;
  const ports = { engine, overlaps: new OverlapTimer() };
  const firstDrops = new BoundedMap<string, number>(revokedMax);
  return controller(ServiceBinding, {
    name: `${engine.name}-bindings`,
    finalizer: `data.setpoint.dev/${engine.name}-user`,
    select: { fieldSelector: `spec.instance.apiGroup=${group},spec.instance.kind=${kind}` },
    watches: [
      watching(Secret, ownerKeys, { labelSelector: bindingLabel }),
      watching(
        engine.kind,
        ({ metadata: { name, namespace } }, cache) =>
          cache
            .list(ServiceBinding, { namespace })
            .filter(({ spec }) => spec.instance.name === name && spec.instance.kind === kind)
            .map(keyOf),
        { predicate: (old, next) => facts(engine, old) !== facts(engine, next) },
      ),
    ],
    observe: (binding, context) => observeBinding(binding, context, ports),
    plan,
    actions: bindingActions(ports),
    status: bindingStatus,
    conditions: bindingConditions,
    cleanup: (binding, context) => revoke(binding, context, engine, firstDrops),
  });
}

function ownerKeys({ metadata }: Stored<Secret>): readonly { name: string; namespace?: string }[] {
  const owners = metadata.ownerReferences?.filter((owner) => owner.kind === "ServiceBinding") ?? [];
  const { namespace } = metadata;
  return owners.map(({ name }) => (namespace === undefined ? { name } : { name, namespace }));
}

/** What of an instance a binding depends on. */
function facts<Instance extends KubeObject>(engine: EngineWithUsers<Instance>, object: Stored<Instance>): string {
  const { uid, deletionTimestamp } = object.metadata;
  const { serving, restored, waitingFor } = engine.state(object);
  const unavailable = engine.users.unavailable?.(object);
  return JSON.stringify([uid, deletionTimestamp, serving, restored, serving ? undefined : waitingFor, unavailable]);
}

/** How late a request may still be executed whose answer was lost. */
const lateMs = seconds(15);

/** Bindings that are being deleted at a time; the wait of one that is forgotten begins again. */
const revokedMax = 1_000;

/**
 * Drops every user that the status names. The status comes from the server: a user that only a late view
 * lacks would be left behind.
 */
async function revoke<Instance extends KubeObject>(
  cached: Stored<ServiceBinding>,
  context: ReconcileContext,
  engine: EngineWithUsers<Instance>,
  firstDrops: BoundedMap<string, number>,
): Promise<Result | void> {
  const { name, namespace } = cached.metadata;
  const { spec, status } = (await context.fresh(ServiceBinding, name, namespace)) ?? cached;
  const logins = status?.logins ?? [];
  const instance = await context.fresh(engine.kind, spec.instance.name, namespace);
  // Users go with their instance.
  if (logins.length === 0 || instance === undefined) return;
  const { serving, waitingFor = "it does not serve" } = engine.state(instance);
  if (!serving && instance.metadata.deletionTimestamp !== undefined) return;
  if (!serving)
    return context.requeueAfter(
      seconds(10),
      `waiting for ${spec.instance.kind} "${spec.instance.name}" to drop ${logins.length} users: ${waitingFor}`,
    );
  const access = cachedAccess(context, namespace);
  context.controller.changesOutside(`drop users ${logins.map(({ user }) => user).join(", ")}`);
  for (const { user } of logins) await engine.users.dropUser(instance, user, undefined, access);
  const deletedMs = Date.parse(cached.metadata.deletionTimestamp ?? "");
  const leftMs = lateMs - sinceFirstDrop(cached, context, firstDrops);
  if (leftMs > 0 && logins.some((login) => mayBeCreatedLate(login, deletedMs)))
    return context.requeueAfter(leftMs, "users are dropped once more: a creation may still be under way");
}

/** By the clock of this process alone, which no correction sets back; another process waits once more. */
function sinceFirstDrop(
  { metadata: { uid } }: Stored<ServiceBinding>,
  { host: { clock } }: ReconcileContext,
  firstDrops: BoundedMap<string, number>,
): number {
  const nowMs = clock.monotonic();
  const firstMs = firstDrops.get(uid) ?? nowMs;
  firstDrops.set(uid, firstMs);
  return nowMs - firstMs;
}

/**
 * A request whose answer was lost is executed later, also when another one has created the user since and its
 * login was published.
 */
function mayBeCreatedLate({ state, since }: Login, deletedMs: number): boolean {
  return state === "Pending" || Date.parse(since) + lateMs > deletedMs;
}
