import { PersistentVolumeClaim, Pod } from "@setpoint/api";
import { controller, watching, type ControllerDefinition } from "@setpoint/runtime";

const finalizer = "kubernetes.io/pvc-protection";

/**
 * Lets a deleted claim go only when no pod uses it any more. One that has ended still does, as upstream: its
 * node may have the volume. One that no node has taken does not.
 */
export const claimProtection: ControllerDefinition = controller(PersistentVolumeClaim, {
  name: "pvc-protection",
  reconcileDeleting: true,
  watches: [watching(Pod, (pod) => claimsOf(pod).map((name) => ({ namespace: pod.metadata.namespace ?? "", name })))],
  async reconcile(claim, context) {
    const { deletionTimestamp, finalizers = [], name, namespace = "" } = claim.metadata;
    if (deletionTimestamp === undefined || !finalizers.includes(finalizer)) return;
    const isUsed = (pods: readonly Pod[]): boolean =>
      pods.some((pod) => (pod.spec?.nodeName ?? "") !== "" && claimsOf(pod).includes(name));
    if (isUsed(context.list(Pod))) return;
    // As upstream: a pod that the cache does not show yet may use it since.
    if (isUsed((await context.client.listAll(Pod, { namespace, signal: context.signal })).items)) return;
    await context.patch(
      claim,
      { metadata: { finalizers: finalizers.filter((each) => each !== finalizer) } },
      { unchanged: true },
    );
  },
});

function claimsOf(pod: Pod): readonly string[] {
  return (pod.spec?.volumes ?? []).flatMap((volume) => volume.persistentVolumeClaim?.claimName ?? []);
}
