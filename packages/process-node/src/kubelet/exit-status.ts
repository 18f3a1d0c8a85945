import type { ContainerExit } from "../sandbox/container-runtime.ts";

export interface ExitStatus {
  readonly metadata: object;
  readonly status: "Success" | "Failure";
  readonly message?: string;
  readonly reason?: string;
  readonly details?: object;
}

/** The last word on a command: its Status, without the kind, as clients of kubelets read it. */
export function exitStatus({ exitCode }: ContainerExit): ExitStatus {
  const metadata = {};
  if (exitCode === 0) return { metadata, status: "Success" };
  return {
    metadata,
    status: "Failure",
    message: `command terminated with non-zero exit code: command terminated with exit code ${exitCode}`,
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: String(exitCode) }] },
  };
}
