/** What an engine says of an object: whether its program has answered, and whether what it wants is ready. */
import { isSetpointError, type KubeObject, messageOf } from "@setpoint/apimachinery";
import { declareConditions, type ConditionInit, type ConditionProtocol } from "@setpoint/runtime";
import { readinessOf } from "./child-readiness.ts";
import { errProgramInput, errProgramOutput } from "./programs.ts";

const declared = {
  Rendered: {
    polarity: "positive",
    reasons: { Rendered: "True", ProgramFailed: "False", OutputInvalid: "False", InputInvalid: "False" },
    stalls: ["InputInvalid"],
  },
  ChildrenReady: {
    polarity: "positive",
    reasons: { AllReady: "True", Waiting: "False", Failed: "False", Refused: "False" },
  },
} as const;

export const engineHealth: ConditionProtocol<typeof declared> = declareConditions(declared);

/** Conditions take at most 32,768 characters; a person reads fewer. */
const messageLengthMax = 1_024;
/** Children that a message names. */
const namedMax = 3;

export function renderedCondition(count: number): ConditionInit {
  return engineHealth.one("Rendered", "Rendered", `The program wants ${count} ${count === 1 ? "object" : "objects"}`);
}

export function notRenderedCondition(error: unknown): ConditionInit {
  const reason = isSetpointError(error, errProgramInput)
    ? "InputInvalid"
    : isSetpointError(error, errProgramOutput)
      ? "OutputInvalid"
      : "ProgramFailed";
  return engineHealth.one("Rendered", reason, shortMessageOf(error));
}

export function refusedCondition(error: unknown): ConditionInit {
  return engineHealth.one("ChildrenReady", "Refused", shortMessageOf(error));
}

export function childrenCondition(children: readonly KubeObject[]): ConditionInit {
  const looked = children.map((child) => ({ child, ...readinessOf(child) })).filter(({ kind }) => kind !== "ready");
  const failed = looked.filter(({ kind }) => kind === "failed");
  const told = failed.length > 0 ? failed : looked;
  if (told.length === 0) return engineHealth.one("ChildrenReady", "AllReady", `All ${children.length} are ready`);
  const sentences = told
    .toSorted((a, b) => nameOf(a.child).localeCompare(nameOf(b.child), "en"))
    .slice(0, namedMax)
    .map(({ child, why }) => `${nameOf(child)}: ${why}`);
  const more = told.length > namedMax ? `; and ${told.length - namedMax} more` : "";
  const message = `${sentences.join("; ")}${more}`.slice(0, messageLengthMax);
  return engineHealth.one("ChildrenReady", failed.length > 0 ? "Failed" : "Waiting", message);
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} "${metadata.name ?? ""}"`;
}

function shortMessageOf(error: unknown): string {
  return messageOf(error).slice(0, messageLengthMax);
}
