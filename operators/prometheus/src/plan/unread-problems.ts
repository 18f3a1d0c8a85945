/** Fields that the server keeps and this operator does not read, as problems of the status. */
import type { KubeObject } from "setpoint";
import type { z } from "zod";
import type { Problem } from "../generate/generation.ts";
import { podMonitorSpec } from "../kind/pod-monitor.ts";
import { probeSpec } from "../kind/probe.ts";
import { ruleSpec } from "../kind/prometheus-rule.ts";
import { prometheusSpec } from "../kind/prometheus.ts";
import { scrapeConfigSpec } from "../kind/scrape-config.ts";
import { serviceMonitorSpec } from "../kind/service-monitor.ts";
import { unreadFields } from "../kind/unread-fields.ts";
import type { ScrapeObjects } from "../select/scrape-objects.ts";
import type { Seen } from "../seen/seen.ts";

const message = "this operator does not act on this field; correct its name, or remove it";

export function unreadProblems(seen: Seen): readonly Problem[] {
  return [
    ...unreadProblemsOf(prometheusSpec, [seen.prometheus]),
    ...unreadScrapeProblems(seen),
    ...unreadProblemsOf(ruleSpec, seen.rules),
  ];
}

export function unreadScrapeProblems({
  serviceMonitors,
  podMonitors,
  probes,
  scrapeConfigs,
}: ScrapeObjects): readonly Problem[] {
  return [
    ...unreadProblemsOf(serviceMonitorSpec, serviceMonitors),
    ...unreadProblemsOf(podMonitorSpec, podMonitors),
    ...unreadProblemsOf(probeSpec, probes),
    ...unreadProblemsOf(scrapeConfigSpec, scrapeConfigs),
  ];
}

/** `schema` is that of the spec of all these objects. */
export function unreadProblemsOf(
  schema: z.ZodType,
  objects: readonly (KubeObject & { readonly spec?: unknown })[],
): readonly Problem[] {
  return objects.flatMap(({ kind, metadata, spec }) => {
    const object = `${kind} "${metadata.namespace ?? ""}/${metadata.name ?? ""}"`;
    return unreadFields(schema, spec, "spec").map((field) => ({ object, field, message }));
  });
}
