/** The defaults of a pod's spec, which templates of workloads share. */
import {
  ensureObject,
  fillDefaults,
  isJsonObject,
  type JsonObject,
  objectAt,
  objectsAt,
  stringAt,
} from "../json-fields.ts";
import { setClaimSpecDefaults } from "./claim-defaults.ts";

/** File mode 0644: readable for all users. */
const defaultMode = 0o644;
const projectedTokenSeconds = 3600;

/** What a spec has that stands in a template, where requests are left as written. */
export function setPodTemplateDefaults(template: JsonObject): void {
  setPodSpecDefaults(ensureObject(template, "spec"));
}

export function setPodDefaults(pod: JsonObject): void {
  const spec = ensureObject(pod, "spec");
  setPodSpecDefaults(spec);
  for (const container of [...objectsAt(spec, "containers"), ...objectsAt(spec, "initContainers")])
    setRequestsFromLimits(container);
  fillDefaults(spec, { enableServiceLinks: true });
  // A template keeps what is written, with a warning.
  if (Number(spec["terminationGracePeriodSeconds"]) < 0) spec["terminationGracePeriodSeconds"] = 1;
  if (spec["hostNetwork"] === true) setHostPorts(spec);
}

function setPodSpecDefaults(spec: JsonObject): void {
  fillDefaults(spec, {
    dnsPolicy: "ClusterFirst",
    restartPolicy: "Always",
    schedulerName: "default-scheduler",
    terminationGracePeriodSeconds: 30,
  });
  ensureObject(spec, "securityContext");
  // Old and new name of one field: whichever is set fills the other.
  const account = stringAt(spec, "serviceAccountName") || stringAt(spec, "serviceAccount");
  if (account !== "") Object.assign(spec, { serviceAccountName: account, serviceAccount: account });
  for (const list of ["initContainers", "containers", "ephemeralContainers"])
    for (const container of objectsAt(spec, list)) setContainerDefaults(container);
  for (const volume of objectsAt(spec, "volumes")) setVolumeDefaults(volume);
  if (spec["hostNetwork"] === true) setHostPorts(spec);
}

function setHostPorts(spec: JsonObject): void {
  for (const container of [...objectsAt(spec, "containers"), ...objectsAt(spec, "initContainers")]) {
    for (const port of objectsAt(container, "ports")) fillDefaults(port, { hostPort: port["containerPort"] });
  }
}

function setContainerDefaults(container: JsonObject): void {
  ensureObject(container, "resources");
  fillDefaults(container, {
    imagePullPolicy: pullPolicy(stringAt(container, "image")),
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
  });
  for (const port of objectsAt(container, "ports")) fillDefaults(port, { protocol: "TCP" });
  for (const probe of ["livenessProbe", "readinessProbe", "startupProbe"]) setProbeDefaults(container[probe]);
  for (const hook of ["postStart", "preStop"]) setHttpGetDefaults(objectAt(container, "lifecycle", hook)["httpGet"]);
  for (const variable of objectsAt(container, "env")) setFieldRefDefaults(objectAt(variable, "valueFrom")["fieldRef"]);
}

/** Always for `latest` (also unwritten), otherwise what is there already will do. */
export function pullPolicy(image: string): "Always" | "IfNotPresent" {
  if (image.includes("@")) return "IfNotPresent";
  const last = image.slice(image.lastIndexOf("/") + 1);
  const colon = last.indexOf(":");
  return colon === -1 || last.slice(colon + 1) === "latest" ? "Always" : "IfNotPresent";
}

function setProbeDefaults(probe: unknown): void {
  if (!isJsonObject(probe)) return;
  fillDefaults(probe, { failureThreshold: 3, periodSeconds: 10, successThreshold: 1, timeoutSeconds: 1 });
  setHttpGetDefaults(probe["httpGet"]);
  // The one pointer to a string that is empty by default.
  if (isJsonObject(probe["grpc"])) probe["grpc"]["service"] ??= "";
}

function setHttpGetDefaults(action: unknown): void {
  if (isJsonObject(action)) fillDefaults(action, { path: "/", scheme: "HTTP" });
}

function setFieldRefDefaults(reference: unknown): void {
  if (isJsonObject(reference)) fillDefaults(reference, { apiVersion: "v1" });
}

function setRequestsFromLimits(container: JsonObject): void {
  const resources = ensureObject(container, "resources");
  if (!isJsonObject(resources["limits"])) return;
  const requests = ensureObject(resources, "requests");
  for (const [name, limit] of Object.entries(resources["limits"])) requests[name] ??= limit;
}

function setVolumeDefaults(volume: JsonObject): void {
  if (Object.keys(volume).every((field) => field === "name")) volume["emptyDir"] = {};
  for (const source of ["configMap", "secret", "downwardAPI", "projected"]) {
    const value = volume[source];
    if (isJsonObject(value)) fillDefaults(value, { defaultMode });
  }
  for (const item of objectsAt(volume, "downwardAPI", "items")) setFieldRefDefaults(item["fieldRef"]);
  if (isJsonObject(volume["hostPath"])) volume["hostPath"]["type"] ??= "";
  for (const source of objectsAt(volume, "projected", "sources")) setProjectionDefaults(source);
  const claim = objectAt(volume, "ephemeral", "volumeClaimTemplate")["spec"];
  if (isJsonObject(claim)) setClaimSpecDefaults(claim);
  setNetworkVolumeDefaults(volume);
}

function setProjectionDefaults(source: JsonObject): void {
  const token = source["serviceAccountToken"];
  if (isJsonObject(token)) fillDefaults(token, { expirationSeconds: projectedTokenSeconds });
  for (const item of objectsAt(source, "downwardAPI", "items")) setFieldRefDefaults(item["fieldRef"]);
}

function setNetworkVolumeDefaults(volume: JsonObject): void {
  const { iscsi, rbd, azureDisk, scaleIO } = volume;
  if (isJsonObject(iscsi)) fillDefaults(iscsi, { iscsiInterface: "default" });
  if (isJsonObject(rbd)) fillDefaults(rbd, { pool: "rbd", user: "admin", keyring: "/etc/ceph/keyring" });
  if (isJsonObject(azureDisk))
    fillDefaults(azureDisk, { cachingMode: "ReadWrite", kind: "Shared", fsType: "ext4", readOnly: false });
  if (isJsonObject(scaleIO)) fillDefaults(scaleIO, { storageMode: "ThinProvisioned", fsType: "xfs" });
}
