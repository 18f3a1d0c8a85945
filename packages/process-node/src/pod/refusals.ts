/**
 * The fields that this node refuses, and why. A field about rights or protection is honoured or refused: a
 * pod must not run with more rights, or less protection, than its author asked for. What a kubelet ignores on
 * a host without the feature is in ignored-fields.ts.
 */
import type { Container, Pod, PodSpec } from "@setpoint/api";
import { allCapabilities, capabilityNames } from "../sandbox/capabilities.ts";
import { adviceOn, noHostRights, type Refusal } from "../cluster/refusal.ts";
import { nodeError } from "../errors.ts";
import { unknownType, volumeRefusals } from "../volumes/volume-refusals.ts";
import { addsCapability } from "./host-access.ts";
import { isSafeSetting, kernelSettings } from "./kernel-settings.ts";

const podRefusals: readonly Refusal<PodSpec>[] = [
  { field: "hostNetwork", ...noHostRights, isAsked: ({ hostNetwork }) => hostNetwork === true },
  { field: "hostPID", ...noHostRights, isAsked: ({ hostPID }) => hostPID === true },
  { field: "hostIPC", ...noHostRights, isAsked: ({ hostIPC }) => hostIPC === true },
  {
    field: "hostUsers",
    reason: "each pod has a user namespace of its own",
    needsHost: true,
    isAsked: ({ hostUsers }) => hostUsers === true,
  },
  {
    field: "shareProcessNamespace",
    reason: "each container has a process namespace of its own",
    isAsked: ({ shareProcessNamespace }) => shareProcessNamespace === true,
  },
  {
    field: "runtimeClassName",
    reason: "this node has one runtime and no classes",
    isAsked: ({ runtimeClassName = "" }) => runtimeClassName !== "",
  },
  { field: "os.name", reason: "this node runs Linux", isAsked: ({ os }) => os !== undefined && os.name !== "linux" },
  {
    field: "resourceClaims",
    reason: "this node has no devices",
    isAsked: ({ resourceClaims = [] }) => resourceClaims.length > 0,
  },
  {
    field: "securityContext.sysctls",
    reason: "it names a setting that is not one of the safe ones",
    isAsked: (spec) => !kernelSettings(spec).every(isSafeSetting),
  },
];

type CommonContext = NonNullable<Container["securityContext"] | PodSpec["securityContext"]>;

/** Of a pod's and of a container's securityContext. */
const contextRefusals: readonly Refusal<CommonContext>[] = [
  {
    field: "seccompProfile.type",
    reason: "this node has the profiles RuntimeDefault and Unconfined, and no profile files",
    isAsked: ({ seccompProfile }) =>
      seccompProfile !== undefined && !["RuntimeDefault", "Unconfined"].includes(seccompProfile.type),
  },
  {
    field: "appArmorProfile",
    reason: "this node does not enforce AppArmor",
    isAsked: ({ appArmorProfile }) => appArmorProfile !== undefined && appArmorProfile.type !== "Unconfined",
  },
];

const containerRefusals: readonly Refusal<Container>[] = [
  {
    field: "securityContext.privileged",
    ...noHostRights,
    isAsked: ({ securityContext }) => securityContext?.privileged === true,
  },
  {
    field: "securityContext.procMount",
    reason: "the kernel's files in /proc stay masked",
    isAsked: ({ securityContext }) => !["Default", ""].includes(securityContext?.procMount ?? ""),
  },
  {
    field: "securityContext.capabilities",
    reason: "it names a capability that the kernel does not have",
    isAsked: ({ securityContext }) =>
      [...(securityContext?.capabilities?.add ?? []), ...(securityContext?.capabilities?.drop ?? [])].some((name) =>
        capabilityNames(name).some((each) => !allCapabilities.includes(each)),
      ),
  },
  {
    field: "securityContext.capabilities SYS_ADMIN",
    reason: "a container with it could change the image, which other pods use",
    needsHost: true,
    isAsked: ({ securityContext }) => addsCapability(securityContext, "CAP_SYS_ADMIN"),
  },
  {
    field: "volumeDevices",
    reason: "this node has no block devices",
    isAsked: ({ volumeDevices = [] }) => volumeDevices.length > 0,
  },
  {
    field: "volumeMounts.mountPropagation",
    reason: "mounts are private to their container",
    isAsked: ({ volumeMounts = [] }) =>
      volumeMounts.some(({ mountPropagation = "" }) => !["None", ""].includes(mountPropagation)),
  },
];

/** A field of one place in a pod that this node refuses. */
export interface RefusedField {
  /** As `spec` or `container "main"`. */
  readonly where: string;
  readonly field: string;
  readonly reason: string;
  /** What its author can do. */
  readonly advice: string;
}

/** What the administrator allows pods. */
export interface PodRights {
  /** Whether pods may have rights over the host; default: no. */
  readonly allowHost?: boolean;
}

/** The fields of the pod and of these of its containers that this node does not honour. */
export function refusedFields(
  spec: PodSpec,
  containers: readonly Container[],
  { allowHost = false }: PodRights = {},
): readonly RefusedField[] {
  const asked = <T>(refusals: readonly Refusal<T>[], from: T, where: string): readonly RefusedField[] =>
    refusals
      .filter((each) => !(allowHost && each.needsHost === true) && each.isAsked(from))
      .map((each) => ({ where, field: each.field, reason: each.reason, advice: adviceOn(each) }));
  return [
    ...asked(podRefusals, spec, "spec"),
    ...asked(contextRefusals, spec.securityContext ?? {}, "spec.securityContext"),
    ...containers.flatMap((container) => [
      ...asked(containerRefusals, container, `container "${container.name}"`),
      ...asked(contextRefusals, container.securityContext ?? {}, `container "${container.name}" securityContext`),
    ]),
    ...(spec.volumes ?? []).flatMap((volume) =>
      asked([...volumeRefusals, unknownType], volume, `volume "${volume.name}"`),
    ),
  ];
}

/**
 * Throws ERR_CONTAINER_CONFIG for the first field of the pod or the container that this node cannot honour.
 */
export function refuseUnsupported({ spec }: Pod, container: Container, rights: PodRights = {}): void {
  const [first] = refusedFields(spec, [container], rights);
  if (first === undefined) return;
  const { where, field, reason, advice } = first;
  throw nodeError("ERR_CONTAINER_CONFIG", `Cannot run the pod: ${where} asks for ${field}, but ${reason}; ${advice}`);
}

/** For pages: the fields that a pod may name and this node refuses, always or without `--allow-host`. */
export function refusedFieldNames(when: "always" | "without --allow-host"): readonly string[] {
  const all: readonly (readonly Pick<Refusal<never>, "field" | "needsHost">[])[] = [
    podRefusals,
    contextRefusals,
    containerRefusals,
    [...volumeRefusals, unknownType],
  ];
  return all.flatMap((refusals) =>
    refusals.filter(({ needsHost = false }) => needsHost === (when !== "always")).map(({ field }) => field),
  );
}
