/** The fields that this node ignores, and why: the pod runs, and the API server warns its author. */
import type { Container, PodSpec } from "@setpoint/api";
import type { Refusal } from "../cluster/refusal.ts";

const noSelinux = "this node does not use SELinux";
const linux = "this node runs Linux";
const fixedName = "the host name of a pod is its name or spec.hostname";

const podFields: readonly Refusal<PodSpec>[] = [
  {
    field: "securityContext.seLinuxOptions",
    reason: noSelinux,
    isAsked: ({ securityContext }) => isSet(securityContext?.seLinuxOptions),
  },
  {
    field: "securityContext.windowsOptions",
    reason: linux,
    isAsked: ({ securityContext }) => securityContext?.windowsOptions !== undefined,
  },
  { field: "setHostnameAsFQDN", reason: fixedName, isAsked: ({ setHostnameAsFQDN }) => setHostnameAsFQDN === true },
  {
    field: "hostnameOverride",
    reason: fixedName,
    isAsked: ({ hostnameOverride = "" }) => hostnameOverride !== "",
  },
];

const containerFields: readonly Refusal<Container>[] = [
  {
    field: "securityContext.seLinuxOptions",
    reason: noSelinux,
    isAsked: ({ securityContext }) => isSet(securityContext?.seLinuxOptions),
  },
  {
    field: "securityContext.windowsOptions",
    reason: linux,
    isAsked: ({ securityContext }) => securityContext?.windowsOptions !== undefined,
  },
  {
    field: "restartPolicyRules",
    reason: "containers restart by the restartPolicy alone",
    isAsked: ({ restartPolicyRules = [] }) => restartPolicyRules.length > 0,
  },
  {
    field: "volumeMounts.recursiveReadOnly",
    reason: "a volume has no mounts below it",
    isAsked: ({ volumeMounts = [] }) =>
      volumeMounts.some(({ recursiveReadOnly = "Disabled" }) => recursiveReadOnly !== "Disabled"),
  },
];

function isSet(options: object | undefined): boolean {
  return Object.values(options ?? {}).some((value) => value !== "");
}

/** Where a pod names a field that has no effect on this node, and why it has none. */
export interface IgnoredField {
  readonly path: string;
  readonly reason: string;
}

export function ignoredFields(spec: PodSpec, containers: readonly Container[]): readonly IgnoredField[] {
  const asked = <T>(fields: readonly Refusal<T>[], from: T, where: string): readonly IgnoredField[] =>
    fields.filter((each) => each.isAsked(from)).map(({ field, reason }) => ({ path: `${where} ${field}`, reason }));
  return [
    ...asked(podFields, spec, "spec"),
    ...containers.flatMap((container) => asked(containerFields, container, `container "${container.name}"`)),
  ];
}

/** For pages: the fields that a pod may name and this node ignores. */
export function ignoredFieldNames(): readonly string[] {
  return [...new Set([...podFields, ...containerFields].map(({ field }) => field))];
}
