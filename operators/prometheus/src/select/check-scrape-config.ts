/** Whether a ScrapeConfig can be part of a configuration; one that cannot is left out, the others stay. */
import { discoveriesOf, type ScrapeConfig } from "../kind/scrape-config.ts";
import { checkDiscovery } from "./check-discovery.ts";
import { checkHttp } from "./check-http.ts";
import { checkRelabelings } from "./check-relabelings.ts";
import { type CheckedBy, checkKeys, checkLabels, checkScrapeClass, checkTimeout } from "./check-scrape.ts";
import { firstRefusal, type Refusal, within } from "./refusal.ts";
import { keysOfClients, scrapeConfigClients } from "./scrape-clients.ts";

export function checkScrapeConfig(by: CheckedBy, object: ScrapeConfig): Refusal | undefined {
  const { spec, metadata } = object;
  const { scrapeInterval: interval, scrapeTimeout } = spec;
  const clients = scrapeConfigClients(object);
  return firstRefusal([
    checkScrapeClass(by, spec.scrapeClass),
    checkRelabelings(by.version, "spec.relabelings", spec.relabelings),
    checkRelabelings(by.version, "spec.metricRelabelings", spec.metricRelabelings),
    within("spec", checkTimeout(by, { interval, scrapeTimeout, intervalField: "scrapeInterval" })),
    ...(spec.staticConfigs ?? []).map(({ labels }, index) =>
      within(`spec.staticConfigs[${index}]`, checkLabels(by, labels)),
    ),
    ...discoveriesOf(object).map((stated) => checkDiscovery(by.version, stated)),
    ...clients.map(({ field, client }) => within(field, checkHttp(client))),
    checkKeys(by.assets, keysOfClients(metadata.namespace ?? "", clients)),
  ]);
}
