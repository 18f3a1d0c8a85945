/** What is explored of ThanosRulers. Only tests import this. */
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
import { PrometheusRule } from "../kind/prometheus-rule.ts";
import { ThanosRuler } from "../kind/thanos-ruler.ts";
import { keepsRevision, renumbersPort, rules, silentSetting } from "./prometheus-stage.ts";
import { ruler } from "./ruler-stage.ts";

export const subject = (): Setting => silentSetting();

const record = { record: "a", expr: "b" };

export const worlds: readonly StoryInit[] = [
  story("a ThanosRuler with rules", rules("r", record), ruler()),
  story("rules are deleted", rules("r", record), ruler(), remove(PrometheusRule, "r")),
  story("a ThanosRuler gets a replica", ruler(), patch(ThanosRuler, "main", { spec: { replicas: 2 } })),
  story("a ThanosRuler is deleted", ruler(), remove(ThanosRuler, "main")),
];

export const options: Omit<LawOptions, "worlds"> = {
  seed: 7,
  oracles: excuseFaults(allOracles, { "same end as without faults": keepsRevision, converges: renumbersPort }),
};
