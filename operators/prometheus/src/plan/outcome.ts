/** What a plan says: the objects that should be there, and what to tell of those that are left out. */
import type { KubeObject } from "setpoint";
import type { GeneratorOptions, Problem } from "../generate/generation.ts";
import type { Refusal, Rejected } from "../select/refusal.ts";

/** What the operator itself is. */
export interface PlanSettings {
  /** Its own image, which has the reloader. */
  readonly image: string;
  readonly options: GeneratorOptions;
  /** The version of a Prometheus that names none. */
  readonly defaultVersion?: string;
  /** The version of an Alertmanager that names none. */
  readonly defaultAlertmanagerVersion?: string;
}

export interface Wanted {
  /** Empty when nothing may change. */
  readonly children: readonly KubeObject[];
  /** Absent when a user writes it. */
  readonly configuration: string | undefined;
  /** Of all that is loaded; absent when a user writes the configuration. */
  readonly hash: string | undefined;
  readonly rejected: readonly Rejected[];
  readonly problems: readonly Problem[];
}

export type Plan =
  | ({ readonly kind: "apply" } & Wanted)
  | { readonly kind: "paused" }
  /** The workload itself cannot be realised: what runs stays as it is. */
  | { readonly kind: "refused"; readonly refusal: Refusal };
