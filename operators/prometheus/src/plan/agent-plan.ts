/** What should be there for a PrometheusAgent; pure. */
import type { KubeObject } from "setpoint";
import { generateAgentConfiguration } from "../generate/configuration.ts";
import type { Version } from "../generate/version.ts";
import { agentSpec, isPerNode, type PrometheusAgent } from "../kind/prometheus-agent.ts";
import { configurationHash } from "../reload/configuration-hash.ts";
import type { AgentSeen } from "../seen/seen.ts";
import { agentDaemonSet, agentStatefulSet, type AgentWorkload } from "../workload/agent-pods.ts";
import { configurationSecret, webSecrets } from "../workload/objects.ts";
import type { Plan, PlanSettings, Wanted } from "./outcome.ts";
import { planned } from "./planned.ts";
import { configurationMade, shardsOf, tlsFiles, versionOf } from "./scraping.ts";
import { unreadProblemsOf, unreadScrapeProblems } from "./unread-problems.ts";

export function planAgent(seen: AgentSeen, settings: PlanSettings): Plan {
  return planned(seen.prometheus.spec, () => wanted(seen, versionOf(seen.prometheus, settings), settings));
}

function wanted(seen: AgentSeen, version: Version, settings: PlanSettings): Wanted {
  const { prometheus: agent } = seen;
  const made = configurationMade(seen, version, settings, (sources) =>
    generateAgentConfiguration({ ...sources, isPerNode: isPerNode(agent) }),
  );
  return {
    children: [
      ...(made.text === undefined ? [] : [configurationSecret(agent, made.text)]),
      ...webSecrets(agent, tlsFiles(seen)),
      ...podsOf(agent, { version, reloaderImage: settings.image }),
    ],
    configuration: made.text,
    hash: made.text === undefined ? undefined : configurationHash(made.text, new Map()),
    rejected: made.rejected,
    problems: [...unreadProblemsOf(agentSpec, [agent]), ...unreadScrapeProblems(seen), ...made.problems],
  };
}

function podsOf(agent: PrometheusAgent, workload: AgentWorkload): readonly KubeObject[] {
  if (isPerNode(agent)) return [agentDaemonSet(agent, workload)];
  return shardsOf(agent).map((shard) => agentStatefulSet(agent, shard, workload));
}
