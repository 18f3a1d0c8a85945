/** Claims that must be bound first, and volumes that only some nodes reach; pure. */
import type { Pod } from "@setpoint/api";
import type { VolumeView } from "../cluster-view.ts";
import { type Filter, unfit } from "./filter.ts";
import { matchesTerm } from "./node-affinity.ts";

/** Names of the claims of a pod. A generic ephemeral volume has the claim `<pod>-<volume>`. */
export function claimNamesOf({ metadata, spec }: Pod): readonly string[] {
  return (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return [persistentVolumeClaim.claimName];
    return ephemeral === undefined ? [] : [`${metadata.name}-${name}`];
  });
}

/** What keeps the pod from every node, in upstream's words. */
export function claimProblem(pod: Pod, volumes: VolumeView): string | undefined {
  for (const name of claimNamesOf(pod)) {
    const claim = volumes.claim(name);
    if (claim === undefined) return `persistentvolumeclaim "${name}" not found`;
    if (claim.metadata.deletionTimestamp !== undefined) return `persistentvolumeclaim "${name}" is being deleted`;
    if (claim.status?.phase === "Lost")
      return `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${claim.spec.volumeName}"`;
    if ((claim.spec.volumeName ?? "") !== "") continue;
    const storageClass = volumes.storageClass(claim.spec.storageClassName ?? "");
    if (storageClass?.volumeBindingMode !== "WaitForFirstConsumer")
      return "pod has unbound immediate PersistentVolumeClaims";
  }
  return undefined;
}

/** A volume is on the nodes that its affinity names. */
export const volumesReachable: Filter = (pod, { labels, name }, { volumes }) => {
  if (volumes === undefined) return [];
  for (const claimName of claimNamesOf(pod)) {
    const { volumeName = "" } = volumes.claim(claimName)?.spec ?? {};
    const terms = volumes.volume(volumeName)?.spec.nodeAffinity?.required?.nodeSelectorTerms;
    if (terms !== undefined && !terms.some((term) => matchesTerm(term, labels, name)))
      return unfit("node(s) didn't match PersistentVolume's node affinity");
  }
  return [];
};
