/** The instances of an acceptance run: the one that all checks share, and the copy of a restore. */
import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "setpoint";
import type { InstanceReference } from "../kinds/instance.ts";
import { type CheckStep, done, type StepReport, type SuiteContext, waiting } from "./check.ts";
import type { SpecChange } from "./engine-acceptance.ts";
import { nameOf, namespaceOf } from "./objects.ts";

/** The instance that the checks share. */
export const mainPart = "main";

export function referenceToMain(context: SuiteContext): InstanceReference {
  const { group, kind } = context.acceptance.engine.kind;
  return { apiGroup: group, kind, name: nameOf(context, mainPart) };
}

/**
 * From the server, because a late view would show a change as done that has not begun. Throws when it is
 * gone.
 */
export async function instanceNamed(context: SuiteContext, part: string = mainPart): Promise<Stored<KubeObject>> {
  const { kind } = context.acceptance.engine;
  const name = nameOf(context, part);
  const found = await context.api.fresh(kind, name, namespaceOf(context));
  if (found === undefined) throw new MissingInstance(`${kind.kind} "${name}" does not exist`);
  return found;
}

/** The instance that a check works with does not exist. */
export class MissingInstance extends Error {
  override readonly name = "MissingInstance";
}

/** Done when the instance serves and is as its spec says. */
export async function settled(context: SuiteContext, part: string = mainPart): Promise<StepReport> {
  const instance = await instanceNamed(context, part);
  const { acceptance } = context;
  const { serving, waitingFor = "no reason in its status" } = acceptance.engine.state(instance);
  const what = `${acceptance.engine.kind.kind} "${instance.metadata.name}"`;
  if (!serving) return waiting(`${what} does not serve: ${waitingFor}`);
  const rest = acceptance.unsettled(instance);
  return rest === undefined ? done : waiting(`${what}: ${rest}`);
}

/** Changes the spec of the instance. */
export function change({ spec }: SpecChange): CheckStep {
  return async (context) => {
    await context.api.patch(await instanceNamed(context), { spec });
    return done;
  };
}
