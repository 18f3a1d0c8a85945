import { type NodeEvents, nodeReference } from "../cluster/node-events.ts";
import type { OciRuntime } from "../sandbox/oci-runtime.ts";

/** Reports on the Node that the agent started, and what this host cannot do for pods. */
export async function reportStart(
  nodeName: string,
  runtime: OciRuntime,
  events: NodeEvents,
  onNotice: ((sentence: string) => void) | undefined,
): Promise<void> {
  const node = nodeReference(nodeName);
  const warn = (reason: string, message: string): void => {
    events.record(node, "Warning", reason, message);
    onNotice?.(`Node "${nodeName}": ${message}`);
  };
  events.record(node, "Normal", "Starting", "Starting kubelet.");
  const limitsProblem = runtime.cgroups.problem;
  if (limitsProblem !== undefined)
    warn(
      "LimitsNotEnforced",
      `CPU limits are not enforced and memory limits apply to each process, because ${limitsProblem}`,
    );
  const podsProblem = await runtime.problem();
  if (podsProblem !== undefined) warn("PodsCannotRun", podsProblem);
}
