/** The pod of any server: its containers, the user's laid over them, and the volumes; pure. */
import type { PodSpec } from "setpoint/kinds";
import type { PodFields } from "../kind/pod-fields.ts";
import { type Container, mergeContainers } from "./merge-containers.ts";
import { placement, readOnly } from "./pod-parts.ts";

type Volume = NonNullable<PodSpec["volumes"]>[number];
type Mount = NonNullable<Container["volumeMounts"]>[number];

export interface PodParts {
  readonly graceSeconds: number;
  readonly account: Partial<Pick<PodSpec, "serviceAccountName" | "automountServiceAccountToken">>;
  readonly initContainers: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes: readonly Volume[];
}

export function serverPod(spec: PodFields, parts: PodParts): PodSpec {
  const first = mergeContainers(parts.initContainers, spec.initContainers);
  return {
    ...parts.account,
    terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds ?? parts.graceSeconds,
    ...placement(spec),
    ...(first.length === 0 ? {} : { initContainers: [...first] }),
    containers: [...mergeContainers(parts.containers, spec.containers)],
    volumes: [...parts.volumes, ...(spec.volumes ?? [])],
  };
}

/** The user's, or that of the namespace. */
export function accountOf(spec: PodFields & { readonly serviceAccountName?: string | undefined }): PodParts["account"] {
  const { serviceAccountName, automountServiceAccountToken: automount } = spec;
  return {
    ...(serviceAccountName === undefined ? {} : { serviceAccountName }),
    ...(automount === undefined ? {} : { automountServiceAccountToken: automount }),
  };
}

/** Secrets and ConfigMaps that the user asks for by their names alone, below `folder`. */
export function namedMounts({ secrets, configMaps }: PodFields, folder: string): readonly Mount[] {
  return [
    ...(secrets ?? []).map((each) => readOnly(`secret-${each}`, `${folder}/secrets/${each}`)),
    ...(configMaps ?? []).map((each) => readOnly(`configmap-${each}`, `${folder}/configmaps/${each}`)),
  ];
}

export function namedVolumes({ secrets, configMaps }: PodFields): readonly Volume[] {
  return [
    ...(secrets ?? []).map((each): Volume => ({ name: `secret-${each}`, secret: { secretName: each } })),
    ...(configMaps ?? []).map((each): Volume => ({ name: `configmap-${each}`, configMap: { name: each } })),
  ];
}

/** Keys and certificates that the configuration names as files. */
export function tlsAssetsVolume(secret: string): Volume {
  return { name: "tls-assets", projected: { sources: [{ secret: { name: secret } }] } };
}

/** The configuration with the variables of the pod. It has passwords, so it is on no disk. */
export const outputVolume: Volume = { name: "config-out", emptyDir: { medium: "Memory" } };

/** What of the container of a server does not depend on its program. */
export function serverContainer(
  spec: PodFields,
  { name, image, args }: { readonly name: string; readonly image: string; readonly args: readonly string[] },
): Container {
  return {
    name,
    image,
    ...(spec.imagePullPolicy === undefined ? {} : { imagePullPolicy: spec.imagePullPolicy }),
    args: [...args],
    ...containerDefaults,
  };
}

/** For all containers of the operator, too. */
export const containerDefaults: Pick<Container, "securityContext" | "terminationMessagePolicy"> = {
  securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
  terminationMessagePolicy: "FallbackToLogsOnError",
};

type HttpProbe = Pick<NonNullable<Container["readinessProbe"]>, "httpGet" | "timeoutSeconds">;

/** Asks the server's own pages; `end` is `ready` or `healthy`. */
export function webProbe(spec: PodFields & WithTls, prefix: string, end: string): HttpProbe {
  return {
    httpGet: {
      path: `${prefix}/-/${end}`.replaceAll("//", "/"),
      port: spec.portName,
      ...(servesTls(spec) ? { scheme: "HTTPS" } : {}),
    },
    timeoutSeconds: 3,
  };
}

/** Where the reloader has the server load its configuration. */
export function reloadUrl(spec: WithTls, port: number, prefix: string): string {
  return `${servesTls(spec) ? "https" : "http"}://localhost:${port}${`${prefix}/-/reload`.replaceAll("//", "/")}`;
}

export interface WithTls {
  readonly web?: { readonly tlsConfig?: object | undefined } | undefined;
}

export function servesTls({ web }: WithTls): boolean {
  return web?.tlsConfig !== undefined;
}
