import type { Container, Probe } from "@setpoint/api";
import { Prober } from "../probes/prober.ts";
import type { RunningContainer } from "../sandbox/container-runtime.ts";
import type { ContainerParts } from "./container-parts.ts";

/** What an earlier agent knew of a container that is still running. */
export interface ProbedBefore {
  readonly started: boolean;
  readonly ready: boolean;
}

/** Starts the probes of a running container. */
export function startProber(
  parts: ContainerParts,
  container: Container,
  running: RunningContainer,
  before: ProbedBefore | undefined,
  onUnhealthy: (name: string, probe: Probe) => void,
): Prober {
  const { startupProbe, livenessProbe, readinessProbe } = container;
  return new Prober({
    clock: parts.clock,
    probes: {
      ...(startupProbe === undefined ? {} : { startup: startupProbe }),
      ...(livenessProbe === undefined ? {} : { liveness: livenessProbe }),
      ...(readinessProbe === undefined ? {} : { readiness: readinessProbe }),
    },
    ...(before === undefined ? {} : { before }),
    run: (probe) => parts.probe(container, running, probe, (probe.timeoutSeconds ?? 1) * 1_000),
    onChange: () => parts.changed(),
    onFailure: (name, message) =>
      parts.event("Warning", "Unhealthy", `${name} probe failed: ${message}`, container.name),
    onUnhealthy,
  });
}
