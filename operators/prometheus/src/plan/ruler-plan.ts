/** What should be there for a ThanosRuler; pure. */
import { ruleSpec } from "../kind/prometheus-rule.ts";
import { type ThanosRuler, thanosRulerSpec } from "../kind/thanos-ruler.ts";
import { configurationHash } from "../reload/configuration-hash.ts";
import { thanosRules } from "../rules/rule-format.ts";
import type { RulerSeen } from "../seen/ruler-seen.ts";
import { rulerRules, rulerWebSecret } from "../workload/ruler-objects.ts";
import { rulerReplicas, rulerStatefulSet } from "../workload/ruler-pods.ts";
import { thanosVersionOf } from "../workload/thanos-flags.ts";
import { rulerName } from "../workload/thanos-names.ts";
import { countsOf, outcomeOf, replicaStatus, type WorkloadFacts } from "./conditions.ts";
import type { Plan, PlanSettings, Wanted } from "./outcome.ts";
import { packedRules } from "./packed-rules.ts";
import { planned } from "./planned.ts";
import { unreadProblemsOf } from "./unread-problems.ts";

export function planRuler(seen: RulerSeen, settings: PlanSettings): Plan {
  return planned(seen.ruler.spec, () => wanted(seen, settings));
}

/** It has no configuration but its command line: what its pods load are rules. */
function wanted({ ruler, rules }: RulerSeen, { image }: PlanSettings): Wanted {
  const { metadata, spec } = ruler;
  const version = thanosVersionOf(spec.version, "spec.version");
  const packed = packedRules(rulerName(metadata.name), thanosRules(spec, version), rules);
  const workload = { version, reloaderImage: image, ruleConfigMaps: packed.configMaps };
  return {
    children: [rulerWebSecret(ruler), ...rulerRules(ruler, packed.packs), rulerStatefulSet(ruler, workload)],
    configuration: undefined,
    hash: configurationHash("", packed.mounted),
    rejected: packed.rejected,
    problems: [...unreadProblemsOf(thanosRulerSpec, [ruler]), ...unreadProblemsOf(ruleSpec, rules)],
  };
}

export function rulerFacts({ ruler, statefulSets, pods }: RulerSeen): WorkloadFacts {
  const { spec } = ruler;
  const replicas = rulerReplicas(spec);
  return { replicas, listensLocally: spec.listenLocal === true, counts: countsOf(statefulSets), pods };
}

export type RulerStatus = Omit<NonNullable<ThanosRuler["status"]>, "conditions">;

export function rulerStatus(seen: RulerSeen, plan: Plan): RulerStatus {
  const { metadata, spec, status } = seen.ruler;
  return {
    observedGeneration: metadata.generation,
    paused: spec.paused === true,
    ...replicaStatus(rulerFacts(seen)),
    ...outcomeOf(plan, status?.configurationHash),
  };
}
