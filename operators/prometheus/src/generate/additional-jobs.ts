/** Scrape jobs in the form of Prometheus that users keep in a Secret. */
import { parse } from "yaml";
import { ConfigurationRefused, type Generation, isSection, type Section, type Value } from "./generation.ts";
import { hashesItself, shardCount, shardingSteps } from "./sharding.ts";

/** The list that the text has; `field` names where it comes from. */
export function parseList(text: string | undefined, field: string): readonly Value[] | undefined {
  if (text === undefined || text.trim() === "") return undefined;
  let value: unknown;
  try {
    value = parse(text, { version: "1.1" });
  } catch (error) {
    throw new ConfigurationRefused(field, `expected YAML: ${String(error).split("\n", 1)[0] ?? ""}`);
  }
  if (value === null || value === undefined) return undefined;
  if (!Array.isArray(value)) throw new ConfigurationRefused(field, "expected a list, as Prometheus has it");
  // What YAML has parsed are values of YAML.
  return value as readonly Value[];
}

/** Shards share these jobs too, unless a job hashes by itself. */
export function additionalJobs(generation: Generation, jobs: readonly Value[] | undefined): readonly Value[] {
  if (jobs === undefined || generation.isPerNode || shardCount(generation) === 1) return jobs ?? [];
  return jobs.map((job) => (isSection(job) ? sharded(generation, job) : job));
}

function sharded(generation: Generation, { relabel_configs: steps = [], ...job }: Section): Section {
  if (!Array.isArray(steps))
    throw new ConfigurationRefused("spec.additionalScrapeConfigs", "expected relabel_configs to be a list");
  const own = steps as readonly Value[];
  return { ...job, relabel_configs: hashesItself(own) ? own : [...own, ...shardingSteps(generation)] };
}
