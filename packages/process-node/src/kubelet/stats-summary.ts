/** `GET /stats/summary`: what the pods of this node use, in the form of a kubelet's Summary API. */
import type { Container, Pod } from "@setpoint/api";
import type { Clock } from "@setpoint/host";
import type { GroupUsage } from "../sandbox/cgroup-usage.ts";
import type { PodWorker } from "../workers/pod-worker.ts";

export interface StatsSummaryParts {
  readonly clock: Clock;
  readonly nodeName: string;
  readonly memoryBytes: number;
  readonly workers: () => readonly PodWorker[];
  /** Of a container's run, or of all pods of the node together. */
  readonly usageOf: (run?: { readonly podUid: string; readonly container: string }) => Promise<GroupUsage | undefined>;
}

/** Counts since the start of each container: the reader derives rates from two answers. */
export async function statsSummary(parts: StatsSummaryParts): Promise<object> {
  const { clock, nodeName, memoryBytes } = parts;
  const node = await parts.usageOf();
  const pods = [];
  // One after the other: a node with a thousand pods must not open thousands of files at a time.
  for (const worker of parts.workers()) if (!worker.isDone) pods.push(await podStats(worker, parts));
  const available = node && { availableBytes: Math.max(0, memoryBytes - node.workingSetBytes) };
  const own = counts(node, isoTime(clock.now()));
  return { node: { nodeName, ...own, memory: { ...own.memory, ...available } }, pods };
}

async function podStats(worker: PodWorker, parts: StatsSummaryParts): Promise<object> {
  const { name = "", namespace = "" } = worker.pod.metadata;
  const containers = (
    await Promise.all(containersOf(worker.pod).map((each) => containerStats(worker, each.name, parts)))
  ).flat();
  const podRef = { name, namespace, uid: worker.uid };
  return { podRef, startTime: worker.pod.status?.startTime ?? null, containers };
}

/** Init containers too: sidecars run as long as the pod does. */
function containersOf({ spec }: Pod): readonly Container[] {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
}

async function containerStats(
  worker: PodWorker,
  name: string,
  { clock, usageOf }: StatsSummaryParts,
): Promise<readonly object[]> {
  const running = worker.container(name)?.running;
  if (running === undefined) return [];
  const [podUid = "", container = "", attempt = ""] = running.id.split("/");
  const usage = await usageOf({ podUid, container: `${container}-${attempt}` });
  if (usage === undefined) return [];
  const startTime = isoTime(running.startedAtMs);
  return [{ name, startTime, ...counts(usage, isoTime(clock.now())) }];
}

function counts(usage: GroupUsage | undefined, time: string): { readonly cpu?: object; readonly memory?: object } {
  if (usage === undefined) return {};
  return {
    cpu: { time, usageCoreNanoSeconds: usage.cpuNanos },
    memory: { time, usageBytes: usage.memoryBytes, workingSetBytes: usage.workingSetBytes },
  };
}

/** With milliseconds: rates are derived from two of these times. */
function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
