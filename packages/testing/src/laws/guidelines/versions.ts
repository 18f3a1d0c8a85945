/** Guideline 6: which version runs is declared, and a change of it is an upgrade. */
import { isApiError, type Condition, type KubeObject } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import { specFields } from "../../explore/spec-operations.ts";
import type { World } from "../../world.ts";
import { type KindWithSchema, specSchemaOf } from "../spec-laws.ts";
import { excuseOf, type Guideline, type GuidelineOptions, type VersionOptions } from "./guideline.ts";
import { instanceKind, settle, withInstance } from "./stage.ts";

/** Fields by which operators say what runs. */
const usual: ReadonlySet<string> = new Set(["spec.version", "spec.image", "spec.engineVersion"]);
const refusalMs = 120_000;

export const versions: Guideline = {
  title: "versions are declared and upgraded",
  excuse: ({ version }) => excuseOf(version),
  problem: (subject, options) =>
    withInstance(subject, options, async (stage) => {
      // A kind that an operator brings was made by `defineKind`.
      const kind = instanceKind(stage, options) as KindWithSchema;
      const fields = specFields(specSchemaOf(kind));
      const { version } = options;
      if ("notApplicable" in version) {
        const declared = fields.find((field) => usual.has(field));
        return declared && `it is excused, but ${kind.kind} has the field ${declared}`;
      }
      if (!fields.includes(version.field)) return `the schema of ${kind.kind} has no field ${version.field}`;
      return (
        (await upgrade(stage.world, kind, options, version)) ?? (await refusal(stage.world, kind, options, version))
      );
    }),
};

async function upgrade(
  world: World,
  kind: KindRef,
  { instance }: GuidelineOptions,
  { field, next, running }: VersionOptions,
): Promise<string | undefined> {
  const before = await running(world);
  if (before.length === 0 || before.includes(next))
    return `before the change, ${before.join(", ") || "nothing"} runs, expected other versions than ${next}`;
  await world.patch(kind, instance.metadata.name ?? "", patchOf(field, next));
  await settle(world);
  const after = await running(world);
  const stale = after.find((each) => each !== next);
  return after.length === 0 || stale !== undefined
    ? `${field} is ${next}, but ${stale ?? "nothing"} runs; a change must be rolled out`
    : undefined;
}

/** A version that does not exist is refused by the API, or by a condition; what runs stays. */
async function refusal(
  world: World,
  kind: KindRef,
  { instance }: GuidelineOptions,
  { field, next, running, unsupported }: VersionOptions,
): Promise<string | undefined> {
  if (unsupported === undefined) return undefined;
  const name = instance.metadata.name ?? "";
  try {
    await world.patch(kind, name, patchOf(field, unsupported));
  } catch (error) {
    if (isApiError(error)) return undefined;
    throw error;
  }
  await world.run(refusalMs);
  if ((await running(world)).some((each) => each !== next)) return `${field} "${unsupported}" was rolled out`;
  const isSaid = saysWhy(await world.get(kind, name), unsupported);
  return isSaid ? undefined : `no condition says why ${field} "${unsupported}" is not rolled out`;
}

function saysWhy(object: KubeObject, version: string): boolean {
  const { status } = object as KubeObject & { readonly status?: { readonly conditions?: readonly Condition[] } };
  return status?.conditions?.some(({ message }) => message.includes(version)) ?? false;
}

/** `spec.version` and a value as a merge patch. */
function patchOf(field: string, value: string): object {
  return field.split(".").reduceRight<unknown>((inner, part) => ({ [part]: inner }), value) as object;
}
