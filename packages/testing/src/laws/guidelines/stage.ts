/** A world with one settled instance, and what belongs to it. */
import { Pod } from "@setpoint/api";
import { type GroupVersionKind, gvkOf, type KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import type { Operator } from "setpoint";
import { type Setting, settingOf, type Subject } from "../../explore/story.ts";
import { describeOperator, simulate } from "../../simulate.ts";
import type { World } from "../../world.ts";
import type { GuidelineOptions } from "./guideline.ts";
import { webhookAnswers } from "./webhook-answers.ts";

type Type = Pick<GroupVersionKind, "group" | "kind">;

const settleMs = 300_000;

export interface Stage {
  readonly world: World;
  readonly operators: readonly Operator[];
}

/** The operators of a subject, without a world. */
export function operatorsOf(subject: Subject): readonly Operator[] {
  return settingOf(subject).operators.map(describeOperator);
}

/** Runs `check` in a world where nothing is applied yet. What the check throws is the problem. */
export async function onStage(
  subject: Subject,
  { seed = 1 }: Pick<GuidelineOptions, "seed">,
  check: (stage: Stage) => Promise<string | undefined>,
): Promise<string | undefined> {
  const setting: Setting = settingOf(subject);
  const { oracles: _rules, ...options } = setting;
  const operators = setting.operators.map(describeOperator);
  await using world = await simulate({ webhooks: webhookAnswers(operators), ...options, seed });
  try {
    return await check({ world, operators });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The same with the instance applied and settled. */
export function withInstance(
  subject: Subject,
  options: GuidelineOptions,
  check: (stage: Stage) => Promise<string | undefined>,
): Promise<string | undefined> {
  return onStage(subject, options, async (stage) => {
    await stage.world.apply(options.instance);
    await settle(stage.world);
    return check(stage);
  });
}

/** The kind of the instance; throws when no operator brings it. */
export function instanceKind(
  { operators }: Stage,
  { instance }: Pick<GuidelineOptions, "instance">,
): Operator["kinds"][number] {
  const kind = operators.flatMap(({ kinds }) => kinds).find((each) => isSameType(each, gvkOf(instance)));
  if (kind === undefined) throw new Error(`the operator brings no kind ${instance.kind} of ${gvkOf(instance).group}`);
  return kind;
}

export function settle(world: World): Promise<void> {
  return world.settled({ within: settleMs });
}

/** Whether two kinds are the same, in any of their versions. */
export function isSameType(a: Type, b: Type): boolean {
  return a.kind === b.kind && a.group === b.group;
}

/** The kinds that the operators own, each once. */
export function ownedKinds(operators: readonly Operator[]): readonly KindRef[] {
  const all = operators.flatMap(({ controllers }) => controllers.flatMap(({ owns }) => owns));
  return all.filter((kind, index) => all.findIndex((each) => isSameType(each, kind)) === index);
}

/** All objects of the owned kinds that another object owns. */
export async function children({ world, operators }: Stage): Promise<readonly Stored<KubeObject>[]> {
  const found: Stored<KubeObject>[] = [];
  for (const kind of ownedKinds(operators)) found.push(...(await world.list<KubeObject>(kind)));
  return found.filter(({ metadata }) => (metadata.ownerReferences ?? []).length > 0);
}

/** Pods outside of the system's namespaces. */
export async function pods(world: World): Promise<readonly Stored<Pod>[]> {
  return (await world.list(Pod)).filter(({ metadata }) => metadata.namespace === "default");
}

export function isReady({ status }: Pod): boolean {
  return status?.conditions?.some((each) => each.type === "Ready" && each.status === "True") ?? false;
}

/** `Pod "web-0"` */
export function named({ kind, metadata }: KubeObject): string {
  return `${kind} "${metadata.name ?? ""}"`;
}
