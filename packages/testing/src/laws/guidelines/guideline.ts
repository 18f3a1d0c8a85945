/** What a guideline is, and what an operator says about itself so that it can be tested. */
import type { KubeObject } from "@setpoint/apimachinery";
import type { Subject } from "../../explore/story.ts";
import type { LawOptions } from "../reconciler-laws.ts";
import type { World } from "../../world.ts";

/** Why a guideline does not apply to this operator. A reason that is plainly wrong fails. */
export interface NotApplicable {
  readonly notApplicable: string;
}

/** Of which built-in kinds an instance is made. */
export interface PrimitiveOptions {
  /** Why the operator creates pods itself, and not by a Deployment, a StatefulSet or a Job. */
  readonly ownPods?: string;
}

/** What an earlier release has left in a cluster. */
export interface OlderOptions {
  /** Creates the objects as the earlier release stored them. The operator does not run meanwhile. */
  place(world: World): void | Promise<void>;
  /** Values of fields that the laws of kinds cannot guess, by path. */
  readonly samples?: Readonly<Record<string, readonly unknown[]>>;
}

/** What an instance does while its operator is away. */
export interface AwayOptions {
  /** Whether a client of the instance gets what it wants: a write and a read, or an answer. */
  isServing(world: World): boolean | Promise<boolean>;
}

/** The field of the spec that says which version runs. */
export interface VersionOptions {
  /** Its path: `spec.version`. */
  readonly field: string;
  /** A version to which the instance can go. */
  readonly next: string;
  /** The versions that run now, by what the world shows and not by the status: one entry a pod, perhaps. */
  readonly running: (world: World) => readonly string[] | Promise<readonly string[]>;
  /** A version that the operator must refuse, if it knows its versions. */
  readonly unsupported?: string;
}

/** What is tested of an operator. Each part applies, or says why not. */
export interface GuidelineOptions {
  /** Every world begins with it. */
  readonly instance: KubeObject;
  /** Everything follows from it; default 1. */
  readonly seed?: number;
  readonly primitives: PrimitiveOptions | NotApplicable;
  readonly older: OlderOptions | NotApplicable;
  readonly away: AwayOptions | NotApplicable;
  readonly version: VersionOptions | NotApplicable;
  /** What the explorer runs; by default at most 60 s, with one kind of fault of each family. */
  readonly chaos: Omit<LawOptions, "seed" | "repro" | "traceFolder">;
}

/** Says in a sentence how the operator does not follow the guideline; undefined when it does. */
export interface Guideline {
  readonly title: string;
  /** Why it does not apply, as the options say. */
  excuse?(options: GuidelineOptions): string | undefined;
  problem(subject: Subject, options: GuidelineOptions): Promise<string | undefined>;
}

/** The reason of a part that does not apply. */
export function excuseOf(part: object): string | undefined {
  return "notApplicable" in part ? String(part.notApplicable) : undefined;
}
