/** The operator on stage in the simulated world. Only tests import this. */
import { type Setting, simulate, type World } from "setpoint/testing";
import { complianceOperator } from "../compliance-operator.ts";
import { ComplianceProbe } from "../kind/compliance-probe.ts";
import { image, ProbeModel } from "./probe-model.ts";

export interface Stage {
  readonly world: World;
  readonly model: ProbeModel;
}

export function probeSetting(): Setting & { readonly model: ProbeModel } {
  const model = new ProbeModel();
  return { model, models: [model], operators: [complianceOperator(image)] };
}

export async function setUp(seed: number): Promise<Stage> {
  const { model, ...setting } = probeSetting();
  const world = await simulate({ seed, ...setting });
  return { world, model };
}

export function probe(spec: Partial<ComplianceProbe["spec"]> = {}): ComplianceProbe {
  return ComplianceProbe({ name: "shop", spec });
}
