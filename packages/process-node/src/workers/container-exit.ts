import type { ContainerStateTerminated } from "@setpoint/api";
import { timestampAt } from "@setpoint/host";
import type { ContainerExit } from "../sandbox/container-runtime.ts";

/** How a container ended, before its worker adds what the container wrote about it. */
export type ContainerEnd = Omit<ContainerStateTerminated, "containerID" | "finishedAt">;

export function containerEnd(exit: ContainerExit, startedAtMs: number): ContainerEnd {
  const { exitCode, isUnknown } = exit;
  return {
    exitCode,
    ...(exitCode > 128 && exitCode < 160 ? { signal: exitCode - 128 } : {}),
    reason: exitReason(exit),
    ...(isUnknown === true ? { message: "The container could not be located when the pod was terminated" } : {}),
    startedAt: timestampAt(startedAtMs),
  };
}

function exitReason({ exitCode, oomKilled, isUnknown }: ContainerExit): string {
  if (isUnknown === true) return "ContainerStatusUnknown";
  if (oomKilled === true) return "OOMKilled";
  return exitCode === 0 ? "Completed" : "Error";
}
