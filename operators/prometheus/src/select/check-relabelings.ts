/** Relabelings that Prometheus would refuse, checked by its own rules. */
import { RE2JS } from "re2js";
import { isAtLeast, type Version } from "../generate/version.ts";
import type { Relabeling } from "../kind/scrape-fields.ts";
import { isLabelName } from "./check-scrape.ts";
import { firstRefusal, refuse, type Refusal } from "./refusal.ts";

/** The actions, and since when Prometheus has those that are not the oldest. */
const actions: Readonly<Record<string, string | undefined>> = {
  replace: undefined,
  keep: undefined,
  drop: undefined,
  hashmod: undefined,
  labelmap: undefined,
  labeldrop: undefined,
  labelkeep: undefined,
  lowercase: "2.36.0",
  uppercase: "2.36.0",
  keepequal: "2.41.0",
  dropequal: "2.41.0",
};

const defaults = { separator: ";", regex: "(.*)", replacement: "$1" };
const legacyTemplate = /^(?:(?:[a-zA-Z_]|\$(?:\{\w+\}|\w+))+\w*)+$/;

export function checkRelabelings(
  version: Version,
  field: string,
  relabelings: readonly Relabeling[] | undefined,
): Refusal | undefined {
  return firstRefusal((relabelings ?? []).map((step, index) => checkStep(version, `${field}[${index}]`, step)));
}

function checkStep(version: Version, field: string, step: Relabeling): Refusal | undefined {
  const action = (step.action === "" ? "replace" : step.action).toLowerCase();
  if (!Object.hasOwn(actions, action))
    return refuse(`${field}.action`, `expected one of ${Object.keys(actions).join(", ")}, got "${step.action}"`);
  const minimum = actions[action];
  if (minimum !== undefined && !isAtLeast(version, minimum))
    return refuse(`${field}.action`, `"${action}" needs Prometheus ${minimum} or newer`);
  return checkRegex(field, step.regex) ?? checkTarget(version, field, action, step) ?? checkUnused(field, action, step);
}

function checkRegex(field: string, regex: string | undefined): Refusal | undefined {
  if (regex === undefined || regex === "") return undefined;
  try {
    RE2JS.compile(`^(?s:${regex})$`);
    return undefined;
  } catch (error) {
    return refuse(`${field}.regex`, `expected a regular expression (RE2), got "${regex}": ${messageOf(error)}`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const needTarget = new Set(["replace", "hashmod", "lowercase", "uppercase", "keepequal", "dropequal"]);

function checkTarget(
  version: Version,
  field: string,
  action: string,
  { modulus = 0, targetLabel = "", replacement }: Relabeling,
): Refusal | undefined {
  const isLegacy = version.major < 3;
  if (action === "hashmod" && modulus === 0)
    return refuse(`${field}.modulus`, `expected a number from 1, because the action is "hashmod"`);
  if (needTarget.has(action) && targetLabel === "")
    return refuse(`${field}.targetLabel`, `expected the name of a label, because the action is "${action}"`);
  if (needTarget.has(action) && !isLabelName(version, targetLabel))
    return refuse(`${field}.targetLabel`, `expected the name of a label, got "${targetLabel}"`);
  if (action === "labelmap" && replacement !== undefined && isLegacy && !legacyTemplate.test(replacement))
    return refuse(`${field}.replacement`, `expected the name of a label, got "${replacement}"`);
  return undefined;
}

/** Fields that an action does not read are mistakes. */
function checkUnused(field: string, action: string, step: Relabeling): Refusal | undefined {
  const isSet = {
    sourceLabels: (step.sourceLabels ?? []).length > 0,
    targetLabel: (step.targetLabel ?? "") !== "",
    modulus: (step.modulus ?? 0) !== 0,
    separator: step.separator !== undefined && step.separator !== defaults.separator,
    replacement: step.replacement !== undefined && step.replacement !== defaults.replacement,
    regex: (step.regex ?? "") !== "" && step.regex !== defaults.regex,
  };
  const wrong = unusedBy(action).find((name) => isSet[name]);
  return wrong && refuse(`${field}.${wrong}`, `the action "${action}" does not use it; remove it`);
}

type StepField = "sourceLabels" | "targetLabel" | "modulus" | "separator" | "replacement" | "regex";

function unusedBy(action: string): readonly StepField[] {
  switch (action) {
    case "lowercase":
    case "uppercase":
      return ["replacement"];
    case "keepequal":
    case "dropequal":
      return ["regex", "modulus", "separator", "replacement"];
    case "labeldrop":
    case "labelkeep":
      return ["sourceLabels", "targetLabel", "modulus", "separator", "replacement"];
    default:
      return [];
  }
}
