import { Namespace } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import { timestamp } from "@setpoint/host";
import {
  controller,
  requeueAfter,
  type ControllerDefinition,
  type ReconcileContext,
  type Result,
} from "@setpoint/runtime";
import { conditionsOf } from "./namespace-conditions.ts";
import { deleteContent, type RemainingContent } from "./namespace-content.ts";

/**
 * What remains waits for finalizers or grace periods, and each retry lists all kinds: a quarter of the time
 * that it has waited passes before the next one, within these. The last is what upstream waits for
 * finalizers.
 */
const retryMsMin = 500;
const retryMsMax = 8_000;
/** What admission refuses, a person has to allow. */
const refusedRetryMsMin = 5_000;

/** Empties a namespace that is being deleted, then lets it go. */
export const namespaces: ControllerDefinition = controller(Namespace, {
  name: "namespace",
  reconcileDeleting: true,
  async reconcile(namespace, context) {
    if (namespace.metadata.deletionTimestamp === undefined) return;
    if (!(namespace.spec?.finalizers ?? []).includes("kubernetes")) return;
    const content = await deleteContent(namespace.metadata.name ?? "", context);
    if (content.remaining.length > 0) return reportRemaining(namespace, content, context);
    await finalize(namespace, context);
  },
});

async function finalize(namespace: Stored<Namespace>, context: ReconcileContext): Promise<void> {
  const finalizers = (namespace.spec?.finalizers ?? []).filter((each) => each !== "kubernetes");
  const path = `/api/v1/namespaces/${namespace.metadata.name}/finalize`;
  await context.client.request({
    method: "PUT",
    path,
    body: { ...namespace, spec: { ...namespace.spec, finalizers } },
  });
}

function retryMsAt({ metadata }: Stored<Namespace>, nowMs: number): number {
  const waitedMs = nowMs - Date.parse(metadata.deletionTimestamp ?? "");
  return Math.min(Math.max(waitedMs / 4 || 0, retryMsMin), retryMsMax);
}

async function reportRemaining(
  namespace: Stored<Namespace>,
  content: RemainingContent,
  { client, host: { clock } }: ReconcileContext,
): Promise<Result> {
  const wanted = conditionsOf(content);
  const present = new Map((namespace.status?.conditions ?? []).map((each) => [each.type, each.message]));
  if (wanted.some((each) => present.get(each.type) !== each.message)) {
    const lastTransitionTime = timestamp(clock);
    const conditions = wanted.map((condition) => ({ ...condition, lastTransitionTime }));
    const key = { name: namespace.metadata.name ?? "" };
    await client.patch(Namespace, key, { status: { conditions } }, { subresource: "status", type: "strategic" });
  }
  const leastMs = content.refusals.length === 0 ? retryMsMin : refusedRetryMsMin;
  const why = `Some resources are remaining: ${content.remaining.join(", ")}`;
  return requeueAfter(Math.max(leastMs, retryMsAt(namespace, clock.now())), why);
}
