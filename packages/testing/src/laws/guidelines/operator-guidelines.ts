/**
 * The seven guidelines of CoreOS for operators (2016), as tests that an operator passes or fails. The options
 * say why one does not apply, and this reason is compared with what the operator does.
 */
import { SetpointError } from "@setpoint/apimachinery";
import type { Subject } from "../../explore/story.ts";
import type { TestFunction } from "../reconciler-laws.ts";
import { chaos } from "./chaos.ts";
import type { Guideline, GuidelineOptions } from "./guideline.ts";
import { newType, singleDeployment } from "./installation.ts";
import { olderObjects } from "./older-objects.ts";
import { operatorAway } from "./operator-away.ts";
import { primitives } from "./primitives.ts";
import { versions } from "./versions.ts";

/** The name of a guideline. */
export type GuidelineName =
  | "singleDeployment"
  | "newType"
  | "primitives"
  | "olderObjects"
  | "operatorAway"
  | "versions"
  | "chaos";

const guidelines: Readonly<Record<GuidelineName, Guideline>> = {
  singleDeployment,
  newType,
  primitives,
  olderObjects,
  operatorAway,
  versions,
  chaos,
};

const reasonMin = 10;
const restMs = 200_000;

/** How the operator does not follow a guideline, in a sentence; undefined when it does. */
export async function guidelineProblem(
  name: GuidelineName,
  subject: Subject,
  options: GuidelineOptions,
): Promise<string | undefined> {
  const guideline: Guideline = guidelines[name];
  const excuse = guideline.excuse?.(options);
  if (excuse !== undefined && excuse.trim().length < reasonMin)
    return `it is excused by "${excuse}", expected a sentence that says why the guideline does not apply`;
  return guideline.problem(subject, options);
}

/**
 * Declares seven tests, one a guideline: `operatorGuidelines(test, "etcd", subject, { … })`. The name of a
 * test says why its guideline does not apply, where the options say so.
 *
 * Errors: `ERR_GUIDELINE_BROKEN` with the guideline and how the operator does not follow it.
 */
export function operatorGuidelines(
  test: TestFunction,
  operator: string,
  subject: Subject,
  options: GuidelineOptions,
): void {
  const names = Object.keys(guidelines) as readonly GuidelineName[];
  names.forEach((name, index) => {
    const guideline: Guideline = guidelines[name];
    const excuse = guideline.excuse?.(options);
    const title = `${operator}, guideline ${index + 1}: ${guideline.title}${excuse === undefined ? "" : ` (does not apply: ${excuse})`}`;
    const timeout = (options.chaos.seconds ?? 0) * 1_000 + restMs;
    test(title, { timeout }, async () => {
      const problem = await guidelineProblem(name, subject, options);
      if (problem !== undefined)
        throw new SetpointError(
          "ERR_GUIDELINE_BROKEN",
          `${guideline.title}: ${operator} does not follow it: ${problem}`,
        );
    });
  });
}
