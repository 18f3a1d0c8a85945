/** What is explored of agents. Only tests import this. */
import {
  allOracles,
  excuseFaults,
  type LawOptions,
  patch,
  remove,
  type Setting,
  type StoryInit,
  story,
} from "setpoint/testing";
import { PodMonitor } from "../kind/pod-monitor.ts";
import { PrometheusAgent } from "../kind/prometheus-agent.ts";
import {
  agent,
  keepsRevision,
  monitor,
  nodeAgent,
  podMonitor,
  releasesPod,
  renumbersPort,
  silentSetting,
} from "./prometheus-stage.ts";

export const subject = (): Setting => silentSetting();

export const worlds: readonly StoryInit[] = [
  story("an agent with a monitor", monitor("app"), agent()),
  story("an agent on each node, whose monitor is deleted", podMonitor("app"), nodeAgent(), remove(PodMonitor, "app")),
  story("an agent gets a shard", agent(), patch(PrometheusAgent, "main", { spec: { shards: 2 } })),
  story("an agent is deleted", agent(), remove(PrometheusAgent, "main")),
];

export const options: Omit<LawOptions, "worlds"> = {
  seed: 7,
  oracles: excuseFaults(allOracles, {
    "same end as without faults": (fault) => keepsRevision(fault) || releasesPod(fault),
    converges: renumbersPort,
  }),
};
