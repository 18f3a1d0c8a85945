/** The containers that write the configuration for a server and have it loaded; pure. */
import type { PodFields } from "../kind/pod-fields.ts";
import type { Container } from "./merge-containers.ts";
import { reloaderPort } from "./names.ts";
import { containerDefaults } from "./server-pod.ts";

type Mounts = readonly NonNullable<Container["volumeMounts"]>[number][];

export interface ReloaderSettings {
  /** The operator's own image. */
  readonly image: string;
  readonly imagePullPolicy: PodFields["imagePullPolicy"];
  /** The file with the gzipped configuration, and the one that the server reads; none where rules are all. */
  readonly config?: string;
  readonly output?: string;
  readonly reloadUrl: string;
  /** Nothing of the pod is reached from outside. */
  readonly listensLocally: boolean;
  /** Arguments for what is loaded besides the configuration. */
  readonly watched: readonly string[];
  readonly env: readonly NonNullable<Container["env"]>[number][];
  readonly mounts: Mounts;
  readonly watchedMounts: Mounts;
}

export interface ReloaderContainers {
  /** Ends when the first configuration is written. */
  readonly first: Container;
  readonly sidecar: Container;
}

export function reloaderContainers(settings: ReloaderSettings): ReloaderContainers {
  const { reloadUrl, listensLocally, watched } = settings;
  const listen = `--listen=${listensLocally ? "127.0.0.1" : ""}:${reloaderPort}`;
  const ports = [{ name: "reloader-web", containerPort: reloaderPort, protocol: "TCP" as const }];
  return {
    first: reloader("init-config-reloader", settings, ["--once"], settings.mounts),
    sidecar: {
      ...reloader(
        "config-reloader",
        settings,
        [`--reload-url=${reloadUrl}`, listen, ...watched],
        [...settings.mounts, ...settings.watchedMounts],
      ),
      ...(listensLocally ? {} : { ports }),
    },
  };
}

function reloader(
  name: string,
  { image, imagePullPolicy, config, output, env }: ReloaderSettings,
  args: readonly string[],
  volumeMounts: Mounts,
): Container {
  return {
    name,
    image,
    ...(imagePullPolicy === undefined ? {} : { imagePullPolicy }),
    args: [
      "reload",
      ...(config === undefined ? [] : [`--config=${config}`]),
      ...(output === undefined ? [] : [`--output=${output}`]),
      ...args,
    ],
    env: [{ name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }, ...env],
    resources: { requests: { cpu: "10m", memory: "64Mi" } },
    ...containerDefaults,
    volumeMounts: [...volumeMounts],
  };
}
