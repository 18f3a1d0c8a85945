/** Where a server keeps its data: a claim, or a volume of the pod; pure. */
import type { PodSpec, StatefulSet } from "setpoint/kinds";
import type { PodFields } from "../kind/pod-fields.ts";
import type { Container } from "./merge-containers.ts";

type Storage = PodFields["storage"];
type Volume = NonNullable<PodSpec["volumes"]>[number];
type Mount = NonNullable<Container["volumeMounts"]>[number];
type ClaimTemplates = NonNullable<NonNullable<StatefulSet["spec"]>["volumeClaimTemplates"]>;

/** None when the data are in a volume of the pod. `name` is that of a claim that has none. */
export function claimTemplates(storage: Storage, name: string): ClaimTemplates {
  if (isInPod(storage)) return [];
  const { metadata: own, spec: claim } = storage?.volumeClaimTemplate ?? {};
  return [
    {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: own?.name ?? name, labels: { ...own?.labels }, annotations: { ...own?.annotations } },
      spec: { ...claim, accessModes: claim?.accessModes ?? ["ReadWriteOnce"] },
    },
  ];
}

function isInPod(storage: Storage): boolean {
  return storage === undefined || storage.emptyDir !== undefined || storage.ephemeral !== undefined;
}

/** The volume of the pod; none when there is a claim. */
export function dataVolumes(storage: Storage, name: string): readonly Volume[] {
  if (!isInPod(storage)) return [];
  if (storage?.ephemeral !== undefined) return [{ name, ephemeral: { ...storage.ephemeral } }];
  return [{ name, emptyDir: { ...storage?.emptyDir } }];
}

/** A volume of one's own is mounted whole; of others, the folder `subPath`. */
export function storageMount(
  storage: Storage,
  { name, mountPath, subPath }: Pick<Mount, "name" | "mountPath" | "subPath">,
): Mount {
  const isWhole = storage === undefined || storage.disableMountSubPath === true;
  return {
    name: storage?.volumeClaimTemplate?.metadata?.name ?? name,
    mountPath,
    ...(isWhole || subPath === undefined ? {} : { subPath }),
  };
}
