/** What one pod could take from the others of its node. */
import { type Act, allowed, type Attempt, denied, untried } from "./act.ts";
import type { ProbedPod } from "./probed-pod.ts";

/** More than the limits that are usual, and few enough to do no harm. */
const threadsMax = 4_096;
/** What control groups of the first version say when there is no limit, and more than any node has. */
const unlimitedBytes = 2 ** 50;

/** Reads the limit: to use up the memory of the node would harm it when there is none. */
async function hasMemory({ files }: ProbedPod): Promise<Attempt> {
  const paths = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
  for (const path of paths) {
    const text = (await files.read(path).catch(() => "")).trim();
    if (text === "max" || Number(text) >= unlimitedBytes) return allowed(`${path} is "${text}"`);
    if (text !== "") return denied(`${path} is ${text} bytes`);
  }
  return untried("the pod does not see its control group");
}

async function startsProcesses(pod: ProbedPod): Promise<Attempt> {
  const started = await pod.startThreads(threadsMax);
  if (started === undefined) return untried("the Node of the image has no module node:ffi");
  return started >= threadsMax
    ? allowed(`${started} threads were started`)
    : denied(`no more than ${started} threads could be started`);
}

const acts: readonly Omit<Act, "group">[] = [
  {
    name: "memory-limit",
    severity: "medium",
    tries: "use the memory of the node without a limit",
    because: "the kernel ends other pods when memory is short",
    remedy: "set resources.limits.memory, or a LimitRange with a default in the namespace",
    attempt: hasMemory,
  },
  {
    name: "process-limit",
    severity: "medium",
    tries: `start ${threadsMax} threads`,
    because: "a fork bomb stops the node",
    remedy: "start kubelets with podPidsLimit",
    attempt: startsProcesses,
  },
];

export const limitActs: readonly Act[] = acts.map((each): Act => ({ ...each, group: "limits" }));
