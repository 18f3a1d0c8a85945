/**
 * The process of a container, and every further one in it: both get the same user, rights and environment.
 */
import type { ContainerSpec } from "./container-runtime.ts";
import { defaultCapabilities } from "./capabilities.ts";

export interface OciProcess {
  readonly terminal: boolean;
  readonly user: { readonly uid: number; readonly gid: number; readonly additionalGids: readonly number[] };
  readonly args: readonly string[];
  readonly env: readonly string[];
  readonly cwd: string;
  readonly capabilities: Readonly<Record<"bounding" | "effective" | "permitted", readonly string[]>>;
  readonly noNewPrivileges: boolean;
}

export interface ProcessOptions {
  readonly tty?: boolean;
}

/** A process file for `crun exec --process`, and the `process` of a container's configuration. */
export function ociProcess(
  spec: ContainerSpec,
  command: readonly string[],
  { tty = false }: ProcessOptions = {},
): OciProcess {
  const { capabilities = defaultCapabilities, noNewPrivileges = false } = spec.security ?? {};
  const uid = spec.runAsUser ?? 0;
  const env = tty ? { TERM: "xterm", ...spec.env } : spec.env;
  return {
    terminal: tty,
    user: { uid, gid: spec.runAsGroup ?? 0, additionalGids: spec.security?.supplementalGroups ?? [] },
    args: command,
    env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    cwd: spec.workingDirectory ?? "/",
    capabilities: { bounding: capabilities, effective: capabilities, permitted: capabilities },
    noNewPrivileges,
  };
}
