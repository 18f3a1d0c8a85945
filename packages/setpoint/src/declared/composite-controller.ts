/**
 * A controller declared in YAML, as Metacontroller's CompositeController; its function is behind HTTP, or a
 * program.
 */
import { isJsonObject, parseApiVersion, SetpointError, type JsonObject, type KubeObject } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import type { ChildUpdate, ControllerDefinition } from "@setpoint/runtime";
import { engineController } from "../engine/engine-controller.ts";
import type { Programs } from "../engine/programs.ts";
import { readEngineRun } from "../engine/read-engine-run.ts";
import { millisecondsOf } from "../hook/duration.ts";
import type { HookCaller } from "../hook/hook-caller.ts";
import { hookController } from "../hook/hook-controller.ts";

/** A declared controller that cannot be used. */
export const errCompositeController = "ERR_COMPOSITE_CONTROLLER";

/** Finds a kind by `plural` or `plural.version.group`; what discovery gives is one. */
export interface KindFinder {
  find(name: string): KindRef;
}

/** What a CompositeController needs from outside: kinds, programs and HTTP hooks. */
export interface CompositeControllerOptions {
  /** What the server serves, or what is known without one: kinds are named by their resources. */
  readonly mapper: KindFinder;
  /** What runs `hooks.sync.run`; without it such a controller is refused. */
  readonly programs?: Programs;
  /** Makes a hook of an address, for instance `(url, timeoutMs) => httpHook(url, { clock, timeoutMs })`. */
  connect(this: void, url: string, timeoutMs: number | undefined): HookCaller;
}

/**
 * Reads a CompositeController (metacontroller.k8s.io/v1alpha1) into a controller.
 *
 * Caveats: children are recognised by their owner, so `generateSelector` makes no difference; a child kind
 * without `updateStrategy` is changed in place, where Metacontroller leaves it alone (`OnDelete`). Errors:
 * `ERR_COMPOSITE_CONTROLLER` for what is missing or not supported (rolling strategies, revision history),
 * `ERR_UNKNOWN_RESOURCE` for kinds that the server does not have.
 */
export function readCompositeController(manifest: unknown, options: CompositeControllerOptions): ControllerDefinition {
  const name = nameOf(manifest);
  const fail = (problem: string): never => {
    throw new SetpointError(errCompositeController, `Cannot use CompositeController "${name}": ${problem}`);
  };
  const spec = fieldsOf(fieldsOf(manifest)["spec"]);
  const parent = fieldsOf(spec["parentResource"]);
  if (parent["revisionHistory"] !== undefined) fail("revisionHistory is not supported");
  const kind = kindOf(parent, options.mapper, fail);
  const declared = listOf(spec["childResources"]).map((child) => ({
    kind: kindOf(child, options.mapper, fail),
    update: updateOf(child, fail),
  }));
  const updates = new Map(declared.map((each) => [`${each.kind.kind}.${each.kind.group}`, each.update]));
  const hooks = fieldsOf(spec["hooks"]);
  const labelSelector = selectorOf(parent["labelSelector"], fail);
  const shared = {
    name,
    kind,
    children: declared.map((each) => each.kind),
    ...(labelSelector === undefined ? {} : { select: { labelSelector } }),
    update: ({ kind: childKind, apiVersion }: KubeObject): ChildUpdate =>
      updates.get(`${childKind}.${parseApiVersion(apiVersion).group}`) ?? "InPlace",
  };
  const resyncPeriodMs = resyncOf(spec["resyncPeriodSeconds"]);
  const program = fieldsOf(hooks["sync"])["run"];
  if (program !== undefined) {
    const { programs } = options;
    if (programs === undefined) return fail("hooks.sync.run is a program, and this host runs none");
    if (hooks["finalize"] !== undefined || hooks["customize"] !== undefined)
      fail("hooks.sync.run stands alone: what a program wants is owned and goes with its object");
    return engineController({
      ...shared,
      programs,
      run: readEngineRun(program, fail),
      ...(resyncPeriodMs === undefined ? {} : { maxReconcileIntervalMs: resyncPeriodMs }),
    });
  }
  const sync = hookOf(hooks["sync"], options) ?? fail("hooks.sync.webhook.url is missing");
  const finalize = hookOf(hooks["finalize"], options);
  const customize = hookOf(hooks["customize"], options);
  return hookController({
    ...shared,
    related: listOf(spec["relatedResources"]).map((each) => kindOf(each, options.mapper, fail)),
    sync,
    ...(finalize === undefined ? {} : { finalize }),
    ...(customize === undefined ? {} : { customize }),
    ...(resyncPeriodMs === undefined ? {} : { resyncPeriodMs }),
  });
}

type Fail = (problem: string) => never;

function nameOf(manifest: unknown): string {
  const { kind, metadata } = fieldsOf(manifest) as Partial<KubeObject>;
  if (kind === "CompositeController" && typeof metadata?.name === "string") return metadata.name;
  throw new SetpointError(
    errCompositeController,
    `Cannot read a CompositeController: it is a ${typeof kind === "string" ? kind : "manifest without kind"}, or it has no name`,
  );
}

function kindOf(rule: JsonObject, mapper: KindFinder, fail: Fail): KindRef {
  const { apiVersion, resource, kind, namespaced = true } = rule;
  if (typeof apiVersion !== "string" || typeof resource !== "string")
    return fail("a resource needs `apiVersion` and `resource`");
  const [version = "", group = ""] = apiVersion.split("/").toReversed();
  // Another operator's kind, which may not be served yet.
  if (typeof kind === "string") return { group, version, kind, plural: resource, namespaced: namespaced === true };
  return mapper.find(group === "" ? resource : `${resource}.${version}.${group}`);
}

function updateOf(child: JsonObject, fail: Fail): ChildUpdate {
  const { method = "InPlace" } = fieldsOf(child["updateStrategy"]);
  if (method === "InPlace" || method === "Recreate" || method === "OnDelete") return method;
  return fail(`updateStrategy "${String(method)}" is not supported; InPlace, Recreate and OnDelete are`);
}

function hookOf(hook: unknown, { connect }: CompositeControllerOptions): HookCaller | undefined {
  const { url, timeout } = fieldsOf(fieldsOf(hook)["webhook"]);
  return typeof url === "string" ? connect(url, millisecondsOf(timeout)) : undefined;
}

/** As Metacontroller's: one that asks for less, or for none at all, would be asked without an end. */
const resyncMsMin = 1_000;

function resyncOf(seconds: unknown): number | undefined {
  return typeof seconds === "number" ? Math.max(seconds * 1_000, resyncMsMin) : undefined;
}

function selectorOf(selector: unknown, fail: Fail): string | undefined {
  if (selector === undefined) return undefined;
  const { matchLabels, matchExpressions } = fieldsOf(selector);
  if (matchExpressions !== undefined) fail("labelSelector.matchExpressions is not supported; matchLabels is");
  return Object.entries(fieldsOf(matchLabels))
    .map(([label, value]) => `${label}=${String(value)}`)
    .join(",");
}

function fieldsOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}
