/** The objects that a pod references, which its node may therefore read. */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import { type JsonObject, objectsAt, stringAt } from "../registry/json-fields.ts";

/** Names in the pod's namespace. */
export interface PodReferences {
  readonly secrets: ReadonlySet<string>;
  readonly configMaps: ReadonlySet<string>;
  readonly claims: ReadonlySet<string>;
  readonly serviceAccount: string;
}

export function podReferences(pod: UnstructuredObject): PodReferences {
  const containers = ["initContainers", "containers", "ephemeralContainers"].flatMap((field) =>
    objectsAt(pod, "spec", field),
  );
  const volumes = objectsAt(pod, "spec", "volumes");
  return {
    secrets: named([
      ...objectsAt(pod, "spec", "imagePullSecrets").map((each) => stringAt(each, "name")),
      ...containers.flatMap((each) => environmentNames(each, "secretKeyRef", "secretRef")),
      ...volumes.flatMap(secretNames),
    ]),
    configMaps: named([
      ...containers.flatMap((each) => environmentNames(each, "configMapKeyRef", "configMapRef")),
      ...volumes.flatMap((each) => [stringAt(each, "configMap", "name"), ...projectedNames(each, "configMap")]),
    ]),
    claims: named(volumes.flatMap((each) => claimNames(pod.metadata.name ?? "", each))),
    serviceAccount: stringAt(pod, "spec", "serviceAccountName"),
  };
}

function named(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.filter((name) => name !== ""));
}

function environmentNames(container: JsonObject, keyRef: string, wholeRef: string): readonly string[] {
  return [
    ...objectsAt(container, "env").map((each) => stringAt(each, "valueFrom", keyRef, "name")),
    ...objectsAt(container, "envFrom").map((each) => stringAt(each, wholeRef, "name")),
  ];
}

/** Drivers of volumes whose credentials are Secrets of the pod's namespace. */
const driversWithSecret = ["cephfs", "cinder", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos"];

function secretNames(volume: JsonObject): readonly string[] {
  return [
    stringAt(volume, "secret", "secretName"),
    stringAt(volume, "azureFile", "secretName"),
    stringAt(volume, "csi", "nodePublishSecretRef", "name"),
    ...driversWithSecret.map((driver) => stringAt(volume, driver, "secretRef", "name")),
    ...projectedNames(volume, "secret"),
  ];
}

function projectedNames(volume: JsonObject, source: string): readonly string[] {
  return objectsAt(volume, "projected", "sources").map((each) => stringAt(each, source, "name"));
}

function claimNames(podName: string, volume: JsonObject): readonly string[] {
  const own = volume["ephemeral"] === undefined ? "" : `${podName}-${stringAt(volume, "name")}`;
  return [stringAt(volume, "persistentVolumeClaim", "claimName"), own];
}
