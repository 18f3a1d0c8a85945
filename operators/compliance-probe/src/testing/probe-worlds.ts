/** What is explored of this operator. Only tests import this. */
import { allOracles, type LawOptions, patch, remove, type Setting, type StoryInit, story } from "setpoint/testing";
import { ComplianceProbe } from "../kind/compliance-probe.ts";
import { probe, probeSetting } from "./probe-stage.ts";

export const subject = (): Setting => {
  const { model: _model, ...setting } = probeSetting();
  return setting;
};

const few = { acts: ["mount", "root-write", "secret-list-everywhere"] };

export const worlds: readonly StoryInit[] = [
  story("a probe runs once", probe(few)),
  story("the selection changes", probe(few), patch(ComplianceProbe, "shop", { spec: { acts: ["mount", "bpf"] } })),
  story("a probe is deleted", probe(few), remove(ComplianceProbe, "shop")),
];

export const options: Omit<LawOptions, "worlds"> = { seed: 7, oracles: allOracles };
