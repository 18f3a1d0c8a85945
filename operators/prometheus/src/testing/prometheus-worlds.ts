/** What is explored of this operator. Only tests import this. */
import {
  allOracles,
  excuseFaults,
  type LawOptions,
  patch,
  remove,
  type Setting,
  type StoryInit,
  story,
} from "setpoint/testing";
import { Probe } from "../kind/probe.ts";
import { Prometheus } from "../kind/prometheus.ts";
import { ScrapeConfig } from "../kind/scrape-config.ts";
import { ServiceMonitor } from "../kind/service-monitor.ts";
import {
  keepsRevision,
  monitor,
  probe,
  prometheus,
  renumbersPort,
  rules,
  scrapeConfig,
  silentSetting,
} from "./prometheus-stage.ts";

export const subject = (): Setting => silentSetting();

export const worlds: readonly StoryInit[] = [
  story("a Prometheus with a monitor and rules", monitor("app"), rules("r", { record: "a", expr: "b" }), prometheus()),
  story("a monitor is deleted", monitor("app"), prometheus(), remove(ServiceMonitor, "app")),
  story("a Probe is deleted", probe("web"), prometheus({ probeSelector: {} }), remove(Probe, "web")),
  story(
    "a ScrapeConfig changes",
    scrapeConfig("vms"),
    prometheus({ scrapeConfigSelector: {} }),
    patch(ScrapeConfig, "vms", { spec: { jobName: "machines" } }),
  ),
  story("a Prometheus gets a shard", prometheus(), patch(Prometheus, "main", { spec: { shards: 2 } })),
  story("a Prometheus is deleted", monitor("app"), prometheus(), remove(Prometheus, "main")),
];

export const options: Omit<LawOptions, "worlds"> = {
  seed: 7,
  oracles: excuseFaults(allOracles, { "same end as without faults": keepsRevision, converges: renumbersPort }),
};
