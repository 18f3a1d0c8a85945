/**
 * Every pod runs as a service account, whose token, certificate authority and namespace it finds in a
 * projected volume.
 */
import { randomSuffix } from "@setpoint/host";
import { ensureObject, isJsonObject, type JsonObject, objectsAt, stringAt } from "../registry/json-fields.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../registry/admission-plugin.ts";
import { forbiddenByAdmission } from "./namespace-lifecycle.ts";

const mountPath = "/var/run/secrets/kubernetes.io/serviceaccount";
/** An hour and seven seconds: marks tokens of this volume, as upstream does. */
const tokenSeconds = 3607;
const fileMode = 0o644;
const suffixLength = 5;
const mirrorAnnotation = "kubernetes.io/config.mirror";

/** Whether a request creates a pod itself, not one of its subresources. */
export function isPodCreation(request: AdmissionRequest): boolean {
  const { definition } = request;
  return (
    request.operation === "CREATE" &&
    definition.group === "" &&
    definition.resource === "pods" &&
    request.subresource === ""
  );
}

async function admit(request: AdmissionRequest): Promise<void> {
  if (!isPodCreation(request) || request.object === undefined) return;
  // Mirror pods represent static pods of a node; they have no service account.
  if (request.object.metadata.annotations?.[mirrorAnnotation] !== undefined) return;
  const spec = ensureObject(request.object as unknown as JsonObject, "spec");
  const name = stringAt(spec, "serviceAccountName") || "default";
  Object.assign(spec, { serviceAccountName: name, serviceAccount: name });
  const account = request.reader.get("", "serviceaccounts", request.namespace, name);
  if (account === undefined) {
    throw forbiddenByAdmission(
      request,
      `error looking up service account ${request.namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`,
    );
  }
  const automount = spec["automountServiceAccountToken"] ?? account["automountServiceAccountToken"] ?? true;
  if (automount === true) mountToken(spec, request);
  const pullSecrets = objectsAt(account, "imagePullSecrets");
  if (objectsAt(spec, "imagePullSecrets").length === 0 && pullSecrets.length > 0)
    spec["imagePullSecrets"] = structuredClone(pullSecrets);
}

function mountToken(spec: JsonObject, request: AdmissionRequest): void {
  const containers = [...objectsAt(spec, "initContainers"), ...objectsAt(spec, "containers")];
  const present = objectsAt(spec, "volumes").find(
    (volume) => stringAt(volume, "name").startsWith("kube-api-access-") && isJsonObject(volume["projected"]),
  );
  const name =
    present === undefined ? `kube-api-access-${randomSuffix(request.random, suffixLength)}` : stringAt(present, "name");
  let used = false;
  for (const container of containers) {
    const mounts = objectsAt(container, "volumeMounts");
    if (mounts.some((mount) => mount["mountPath"] === mountPath)) continue;
    container["volumeMounts"] = [...mounts, { name, readOnly: true, mountPath }];
    used = true;
  }
  if (used && present === undefined) spec["volumes"] = [...objectsAt(spec, "volumes"), tokenVolume(name)];
}

function tokenVolume(name: string): JsonObject {
  const sources = [
    { serviceAccountToken: { expirationSeconds: tokenSeconds, path: "token" } },
    { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
    {
      downwardAPI: { items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }] },
    },
  ];
  return { name, projected: { sources, defaultMode: fileMode } };
}

export const serviceAccountAdmission: AdmissionPlugin = { name: "ServiceAccount", admit };
