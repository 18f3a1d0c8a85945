import { Job, Pod } from "@setpoint/api";
import { controllerOf } from "@setpoint/apimachinery";
import { controller, watching, type ControllerDefinition } from "@setpoint/runtime";
import { isTracked, trackingFinalizer } from "./job-pod.ts";

/** Takes the finalizer from pods whose Job is gone: nobody would count them. */
export const jobOrphans: ControllerDefinition = controller(Pod, {
  name: "job-orphan-pods",
  reconcileDeleting: true,
  // Its Job may have let it go.
  predicate: (old, next) => controllerOf(old)?.uid !== controllerOf(next)?.uid,
  watches: [
    watching(Job, ({ metadata: { uid, namespace } }, cache) =>
      cache
        .list(Pod, { namespace })
        .filter((pod) => isTracked(pod) && controllerOf(pod)?.uid === uid)
        .map(({ metadata: { name } }) => ({ namespace: namespace ?? "", name })),
    ),
  ],
  async reconcile(pod, context) {
    if (!isTracked(pod)) return;
    const owner = controllerOf(pod);
    const job = owner?.kind === "Job" ? context.get(Job, owner.name, pod.metadata.namespace) : undefined;
    if (owner !== undefined && job?.metadata.uid === owner.uid) return;
    // As the cache may lag behind, the server is asked before the count of a Job that exists loses a pod.
    const present = owner && (await context.fresh(Job, owner.name, pod.metadata.namespace));
    if (owner !== undefined && present?.metadata.uid === owner.uid) return;
    const finalizers = (pod.metadata.finalizers ?? []).filter((each) => each !== trackingFinalizer);
    await context.patch(pod, { metadata: { finalizers } }, { unchanged: true });
  },
});
