/** What the steps of the generation share: the Prometheus, its version, assets, and the list of problems. */
import type { ScrapeClass } from "../kind/common-prometheus.ts";
import type { AnyPrometheus } from "../kind/prometheus.ts";
import type { Assets } from "./assets.ts";
import { isAtLeast, type Version } from "./version.ts";

/** A value of the configuration, as YAML has it. */
export type Value = string | number | boolean | readonly Value[] | Section;
/** A mapping of the configuration; its keys are written in their order. */
export interface Section {
  readonly [key: string]: Value;
}

export function isSection(value: Value): value is Section {
  return typeof value === "object" && !Array.isArray(value);
}

/** Something that is left out of the configuration, and why. */
export interface Problem {
  /** The object that asked for it, such as `ServiceMonitor "default/app"`. */
  readonly object: string;
  readonly field: string;
  readonly message: string;
}

/** Abilities of the cluster and of the operator that change the output. */
export interface GeneratorOptions {
  /** The cluster serves EndpointSlices. */
  readonly endpointSlices?: boolean;
  /** Shards may be bound to zones. */
  readonly topologySharding?: boolean;
  /** Shards that were scaled away are kept, and scrape nothing. */
  readonly retainShards?: boolean;
  /** Pods carry the label of their zone (Kubernetes 1.35). */
  readonly podTopologyLabels?: boolean;
}

export interface Generation {
  readonly prometheus: AnyPrometheus;
  /** Each pod scrapes the pods of its node alone, so there are no shards. */
  readonly isPerNode: boolean;
  readonly version: Version;
  readonly options: GeneratorOptions;
  readonly assets: Assets;
  readonly scrapeClasses: readonly ScrapeClass[];
  /** The object that the present part is about. */
  readonly object: string;
  /** Grows while the configuration is made. */
  readonly problems: Problem[];
}

/** A configuration that cannot be made at all: Prometheus keeps the one it has. */
export class ConfigurationRefused extends Error {
  override readonly name = "ConfigurationRefused";
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

export function report({ problems, object }: Generation, field: string, message: string): void {
  problems.push({ object, field, message });
}

export function has({ version }: Generation, minimum: string): boolean {
  return isAtLeast(version, minimum);
}

/** The field with its value; nothing when the value is undefined. */
export function field(key: string, value: Value | undefined): Section {
  return value === undefined ? {} : { [key]: value };
}

/** As `field`, but only for a Prometheus that knows the field. */
export function since(generation: Generation, minimum: string, key: string, value: Value | undefined): Section {
  if (value === undefined) return {};
  if (has(generation, minimum)) return { [key]: value };
  report(generation, key, `ignored, because it needs Prometheus ${minimum} or newer`);
  return {};
}

/** An empty text means nothing, as in upstream's API. */
export function given(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

/** The lists that are not empty. */
export function filled<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list === undefined || list.length === 0 ? undefined : list;
}

/** A map in the order of its keys. */
export function sorted(map: Readonly<Record<string, Value>> | undefined): Section | undefined {
  if (map === undefined) return undefined;
  return Object.fromEntries(Object.entries(map).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}
