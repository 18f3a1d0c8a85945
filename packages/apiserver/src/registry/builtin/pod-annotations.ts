/** Annotations of pods that stood for fields before these existed. */
import type { FieldError, UnstructuredObject } from "@setpoint/apimachinery";
import { invalidValue } from "../field-errors.ts";
import { ensureObject, type JsonObject, objectAt, objectsAt, stringAt } from "../json-fields.ts";

const dropped = ["alpha", "beta"].flatMap((stage) =>
  ["init-containers", "init-container-statuses"].map((name) => `pod.${stage}.kubernetes.io/${name}`),
);
const seccompPrefix = "seccomp.security.alpha.kubernetes.io/";
const containerSeccompPrefix = "container.seccomp.security.alpha.kubernetes.io/";
const appArmorPrefix = "container.apparmor.security.beta.kubernetes.io/";
const appArmorTypes: ReadonlyMap<string, string> = new Map([
  ["unconfined", "Unconfined"],
  ["runtime/default", "RuntimeDefault"],
]);

function annotationsOf({ metadata }: UnstructuredObject): Readonly<Record<string, string>> {
  return metadata.annotations ?? {};
}

/** Upstream forgets these when it reads a pod. */
export function dropAnnotations(pod: JsonObject): void {
  const metadata = objectAt(pod, "metadata");
  const annotations = objectAt(metadata, "annotations");
  for (const name of dropped) delete annotations[name];
  if (metadata["annotations"] !== undefined && Object.keys(annotations).length === 0) delete metadata["annotations"];
}

/** A profile that only an annotation names becomes the field of the container. */
export function setAppArmorProfiles(pod: UnstructuredObject): void {
  for (const container of objectsAt(pod, "spec", "containers")) {
    const profile = annotationsOf(pod)[`${appArmorPrefix}${stringAt(container, "name")}`];
    if (profile === undefined) continue;
    const localhostProfile = /^localhost\/(.+)$/.exec(profile)?.[1];
    const type = localhostProfile === undefined ? appArmorTypes.get(profile) : "Localhost";
    if (type === undefined) continue;
    const local = localhostProfile === undefined ? {} : { localhostProfile };
    ensureObject(container, "securityContext")["appArmorProfile"] ??= { type, ...local };
  }
}

export function appArmorWarnings(pod: UnstructuredObject): readonly string[] {
  return Object.keys(annotationsOf(pod))
    .filter((name) => name.startsWith(appArmorPrefix))
    .map((name) => `metadata.annotations[${name}]: deprecated since v1.30; use the "appArmorProfile" field instead`);
}

export function seccompErrors(pod: UnstructuredObject): readonly FieldError[] {
  return Object.entries(annotationsOf(pod))
    .filter(([name]) => name === `${seccompPrefix}pod` || name.startsWith(containerSeccompPrefix))
    .filter(([, profile]) => !/^(?:runtime\/default|docker\/default|unconfined|localhost\/.+)$/.test(profile))
    .map(([name, profile]) => invalidValue(`metadata.annotations.${name}`, profile, "must be a valid seccomp profile"));
}
