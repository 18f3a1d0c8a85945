/** Guideline 4: objects that an earlier release has stored go on working. */
import { messageOf } from "@setpoint/apimachinery";
import { kindLaws, type LawfulKind } from "../../kind-laws.ts";
import type { Operator } from "setpoint";
import { excuseOf, type Guideline, type OlderOptions } from "./guideline.ts";
import { children, instanceKind, named, onStage, operatorsOf, settle } from "./stage.ts";

const runs = 100;

export const olderObjects: Guideline = {
  title: "objects of older versions keep working",
  excuse: ({ older }) => excuseOf(older),
  async problem(subject, options) {
    const operators = operatorsOf(subject);
    const { older } = options;
    if ("notApplicable" in older) {
      const several = lawful(operators).find(({ versions }) => versions.length > 1);
      return several && `it is excused, but ${several.kind} has ${several.versions.length} versions`;
    }
    return (
      lostInConversion(operators, older) ??
      onStage(subject, options, async (stage) => {
        const { world } = stage;
        world.stopOperator();
        await older.place(world);
        const before = await children(stage);
        const instances = await world.list(instanceKind(stage, options));
        if (instances.length === 0) return `\`older.place\` has created no ${options.instance.kind}`;
        await world.restartOperator();
        await settle(world);
        const after = new Set((await children(stage)).map(({ metadata }) => metadata.uid));
        const gone = before.find(({ metadata }) => !after.has(metadata.uid));
        if (gone !== undefined) return `${named(gone)} of the earlier release is gone or was replaced`;
        await world.expectQuiet();
        return undefined;
      })
    );
  },
};

/** Kinds that were made by `defineKind`. */
function lawful(operators: readonly Operator[]): readonly LawfulKind[] {
  const kinds = operators.flatMap((operator) => operator.kinds) as readonly (object & { readonly kind: string })[];
  return kinds.filter((kind): kind is LawfulKind => "versions" in kind && "convert" in kind);
}

function lostInConversion(operators: readonly Operator[], { samples = {} }: OlderOptions): string | undefined {
  for (const kind of lawful(operators)) {
    if (kind.versions.length < 2) continue;
    try {
      kindLaws(kind, { runs, samples });
    } catch (error) {
      return messageOf(error);
    }
  }
  return undefined;
}
