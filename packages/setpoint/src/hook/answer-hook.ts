/** The function of a controller of the pure form, behind Metacontroller's contract: JSON in, JSON out. */
import { isJsonObject, SetpointError, type KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import { timestamp, type Clock } from "@setpoint/host";
import {
  completeConditions,
  conditionsOf,
  type Asked,
  type ControllerDefinition,
  type Desired,
  type PureForm,
} from "@setpoint/runtime";
import { fromWire, isStored, relatedRules, type SyncResponse } from "./hook-contract.ts";

/** A request to a hook cannot be answered. */
export const errHookRequest = "ERR_HOOK_REQUEST";

/** Metacontroller's names of its hooks. */
export type HookName = "sync" | "finalize" | "customize";

/** Answers one request of a host. */
export async function answerHook(
  controller: ControllerDefinition,
  hook: HookName,
  request: unknown,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<unknown> {
  const form = formOf(controller);
  const parent = parentOf(controller, request);
  if (hook === "customize") {
    const selectors = (await form.customize?.(parent, signal)) ?? {};
    return { relatedResources: relatedRules(selectors, form.related) };
  }
  const { children, related } = request as { readonly children?: unknown; readonly related?: unknown };
  const asked: Asked = {
    object: parent,
    owned: fromWire(form.owns, children),
    related: fromWire(form.related, related),
    cache: noCache(controller),
    signal,
  };
  if (hook === "sync") return response(parent, await form.sync(asked), clock);
  if (form.finalize === undefined) throw refused(`controller "${controller.name}" has no \`finalize\``);
  const answer = await form.finalize(asked);
  return { ...response(parent, answer, clock), finalized: answer.finalized };
}

function response(parent: Stored<KubeObject>, desired: Desired, clock: Clock): SyncResponse {
  const { children, status, conditions = [], resyncAfterMs } = desired;
  const present = conditionsOf((parent as { readonly status?: unknown }).status);
  const complete = completeConditions(conditions, present, parent.metadata.generation, timestamp(clock));
  const whole = complete.length === 0 ? status : { ...status, conditions: complete };
  return {
    children,
    ...(whole === undefined ? {} : { status: whole }),
    ...(resyncAfterMs === undefined ? {} : { resyncAfterSeconds: resyncAfterMs / 1_000 }),
  };
}

function formOf({ name, pure }: ControllerDefinition): PureForm {
  if (pure !== undefined) return pure;
  throw refused(`controller "${name}" is not of the pure form (\`desired\`)`);
}

function parentOf({ name, kind }: ControllerDefinition, request: unknown): Stored<KubeObject> {
  const parent = isJsonObject(request) ? request["parent"] : undefined;
  if (!isStored(parent)) throw refused("it has no `parent`, or one that was never stored");
  if (parent.kind !== kind.kind)
    throw refused(`controller "${name}" is for ${kind.kind}, and the parent is a ${parent.kind}`);
  return parent;
}

/** Behind a hook there is no cache: what the function may see is in the request. */
function noCache({ name }: ControllerDefinition): Asked["cache"] {
  const refuse = (): never => {
    throw refused(
      `\`desired\` of controller "${name}" reads the cache; name what it needs in \`related\` and \`customize\``,
    );
  };
  return { get: refuse, list: refuse };
}

function refused(problem: string): SetpointError {
  return new SetpointError(errHookRequest, `Cannot answer the hook: ${problem}`);
}
