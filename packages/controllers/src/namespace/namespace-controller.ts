import { Namespace } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import {
  controller,
  requeueAfter,
  type ControllerDefinition,
  type ReconcileContext,
  type Result,
} from "@setpoint/runtime";
import { deleteContent } from "./namespace-content.ts";

/** How often a namespace with remaining content is looked at: what remains waits for finalizers or grace periods. */
const retryMs = 500;

/** Empties a namespace that is being deleted, then lets it go. */
export const namespaces: ControllerDefinition = controller(Namespace, {
  name: "namespace",
  reconcileDeleting: true,
  async reconcile(namespace, context) {
    if (namespace.metadata.deletionTimestamp === undefined) return;
    if (!(namespace.spec?.finalizers ?? []).includes("kubernetes")) return;
    const remaining = await deleteContent(namespace.metadata.name ?? "", context);
    if (remaining.length > 0) return reportRemaining(namespace, remaining, context);
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

/** Upstream's words: `Some resources are remaining: pods. has 1 resource instances`. */
async function reportRemaining(
  namespace: Stored<Namespace>,
  remaining: readonly string[],
  context: ReconcileContext,
): Promise<Result> {
  const message = `Some resources are remaining: ${remaining.join(", ")}`;
  const present = namespace.status?.conditions?.find((each) => each.type === "NamespaceContentRemaining");
  if (present?.message !== message) {
    const condition = { type: "NamespaceContentRemaining", status: "True", reason: "SomeResourcesRemain", message };
    const conditions = [
      { ...condition, lastTransitionTime: new Date(context.clock.now()).toISOString().replace(/\.\d+Z/, "Z") },
    ];
    const key = { name: namespace.metadata.name ?? "" };
    await context.client.patch(
      Namespace,
      key,
      { status: { conditions } },
      { subresource: "status", type: "strategic" },
    );
  }
  return requeueAfter(retryMs, message);
}
