/** Defaults of claims and volumes: what a PersistentVolumeClaim shares with the templates that make one. */
import { fillDefaults, type JsonObject, ensureObject } from "../json-fields.ts";

export function setClaimSpecDefaults(spec: JsonObject): void {
  fillDefaults(spec, { volumeMode: "Filesystem" });
}

export function setClaimDefaults(claim: JsonObject): void {
  setClaimSpecDefaults(ensureObject(claim, "spec"));
  fillDefaults(ensureObject(claim, "status"), { phase: "Pending" });
}

export function setVolumeDefaults(volume: JsonObject): void {
  const spec = ensureObject(volume, "spec");
  fillDefaults(spec, { persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem" });
  const hostPath = spec["hostPath"];
  if (typeof hostPath === "object" && hostPath !== null) (hostPath as JsonObject)["type"] ??= "";
  fillDefaults(ensureObject(volume, "status"), { phase: "Pending" });
}
