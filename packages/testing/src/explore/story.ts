/** What users do in a world, as data: it can be printed, shortened and pasted. */
import type { KubeObject } from "@setpoint/apimachinery";
import { encodeJson } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import type { Operator } from "setpoint";
import type { Oracle } from "../oracles/oracle.ts";
import type { OutsideModel, ProgramModel } from "../program-model.ts";
import type { SimulateOptions } from "../simulate.ts";
import type { OperatorSource } from "../simulated-operator.ts";
import type { ObjectName, World } from "../world.ts";

/** One step of a story. The next one begins when it is done. */
export type StoryStep = Deed & {
  /** See `given`. */
  readonly isGiven?: boolean;
  /** See `unsettled`. */
  readonly isUnsettled?: boolean;
};

type Deed =
  /** Server-side apply, by force, as the user of the story. */
  | { readonly kind: "apply"; readonly object: KubeObject }
  /** A merge patch. */
  | { readonly kind: "patch"; readonly of: KindRef; readonly name: ObjectName; readonly patch: unknown }
  | { readonly kind: "delete"; readonly of: KindRef; readonly name: ObjectName }
  /** Time passes, whether or not anything is settled. */
  | { readonly kind: "run"; readonly milliseconds: number }
  | { readonly kind: "settle" }
  /** Anything else. */
  | { readonly kind: "do"; readonly what: string; run(world: World): void | Promise<void> };

/** What a user does in a world, step by step, under a name that reports print. */
export interface Story {
  readonly name: string;
  readonly steps: readonly StoryStep[];
}

/** An object alone is the story in which a user applies it. */
export type StoryInit = Story | KubeObject;

/** What is new in each run: operators, the models of their operands, and rules about them. */
export interface Setting extends Omit<SimulateOptions, "seed" | "operators" | "models" | "faults"> {
  readonly operators: readonly OperatorSource[];
  readonly models?: readonly (ProgramModel | OutsideModel)[];
  /** Rules of this setting, beside those that hold for all. */
  readonly oracles?: readonly Oracle[];
}

/**
 * An operator, or a function that creates a setting for each run. Models keep data, so two runs may not share
 * one.
 */
export type Subject = Operator | (() => Setting);

export function settingOf(subject: Subject): Setting {
  return typeof subject === "function" ? subject() : { operators: [subject] };
}

/** Builds a story: objects are applied; the world settles after each step. */
export function story(name: string, ...steps: readonly (StoryStep | KubeObject)[]): Story {
  return { name, steps: steps.map(stepOf) };
}

/** A server-side apply of the object, by force, as the user of the story. */
export function apply(object: KubeObject): StoryStep {
  return { kind: "apply", object };
}

/** A merge patch of an object, in the namespace `default` unless its name says otherwise. */
export function patch(of: KindRef, name: ObjectName, change: unknown): StoryStep {
  return { kind: "patch", of, name, patch: change };
}

/** A user deletes an object. */
export function remove(of: KindRef, name: ObjectName): StoryStep {
  return { kind: "delete", of, name };
}

/** Time passes. */
export function run(milliseconds: number): StoryStep {
  return { kind: "run", milliseconds };
}

/** Anything else that happens; `what` is what a trace calls it. */
export function happens(what: string, then: (world: World) => void | Promise<void>): StoryStep {
  return { kind: "do", what, run: then };
}

/**
 * A step that stories of another module explore. An exploration strikes only after the given steps with which
 * a story begins.
 */
export function given(step: StoryStep | KubeObject): StoryStep {
  return { ...stepOf(step), isGiven: true };
}

/** A step after which the world need not settle, because something waits for a later step. */
export function unsettled(step: StoryStep | KubeObject): StoryStep {
  return { ...stepOf(step), isUnsettled: true };
}

/** With how many given steps a story begins. */
export function givenSteps({ steps }: Story): number {
  const first = steps.findIndex(({ isGiven }) => isGiven !== true);
  return first === -1 ? steps.length : first;
}

export function storyOf(init: StoryInit): Story {
  if ("steps" in init) return init;
  return story(`${init.kind} "${init.metadata.name ?? ""}" is applied`, init);
}

function stepOf(step: StoryStep | KubeObject): StoryStep {
  return "apiVersion" in step ? { kind: "apply", object: step } : step;
}

/** One line. */
export function describeStep(step: StoryStep): string {
  switch (step.kind) {
    case "apply":
      return `apply ${step.object.kind} "${step.object.metadata.name ?? ""}"`;
    case "patch":
      return `patch ${step.of.kind} ${nameOf(step.name)} with ${encodeJson(step.patch)}`;
    case "delete":
      return `delete ${step.of.kind} ${nameOf(step.name)}`;
    case "run":
      return `let ${step.milliseconds / 1_000} s pass`;
    case "settle":
      return "wait until all is settled";
    case "do":
      return step.what;
  }
}

function nameOf(name: ObjectName): string {
  return typeof name === "string" ? `"${name}"` : `"${name.namespace ?? ""}/${name.name}"`;
}

/** Does one step; the world has not settled yet afterwards. */
export async function play(world: World, step: StoryStep): Promise<void> {
  switch (step.kind) {
    case "apply":
      await world.apply(step.object);
      return;
    case "patch":
      await world.patch(step.of, step.name, step.patch);
      return;
    case "delete":
      return world.delete(step.of, step.name);
    case "run":
      return world.run(step.milliseconds);
    case "settle":
      return;
    case "do":
      await step.run(world);
  }
}
