import type { Container } from "@setpoint/api";
import { sleep } from "@setpoint/host";
import type { RunningContainer } from "../sandbox/container-runtime.ts";
import type { ContainerParts } from "./container-parts.ts";

const postStartMsMax = 60_000;

/** False when the container has to be killed because its hook failed. */
export async function runPostStart(
  parts: ContainerParts,
  container: Container,
  running: RunningContainer,
): Promise<boolean> {
  const hook = container.lifecycle?.postStart;
  if (hook === undefined) return true;
  const result = await parts.probe(container, running, hook, postStartMsMax);
  if (result.ok) return true;
  parts.event("Warning", "FailedPostStartHook", `PostStartHook failed: ${result.message}`, container.name);
  return false;
}

/** Resolves when the hook has ended, or its grace period has. */
export async function runPreStop(
  parts: ContainerParts,
  container: Container,
  running: RunningContainer,
  graceMs: number,
): Promise<void> {
  const hook = container.lifecycle?.preStop;
  if (hook === undefined || graceMs <= 0) return;
  if (hook.sleep !== undefined) await sleep(parts.clock, Math.min(Number(hook.sleep.seconds) * 1_000, graceMs));
  const result = await parts.probe(container, running, hook, graceMs);
  if (!result.ok) parts.event("Warning", "FailedPreStopHook", `PreStopHook failed: ${result.message}`, container.name);
}
