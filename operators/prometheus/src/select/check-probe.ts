/** Whether a Probe can be part of a configuration; one that cannot is left out, and the others stay. */
import { isIP } from "node:net";
import type { Probe, ProbeTargets } from "../kind/probe.ts";
import { checkRelabelings } from "./check-relabelings.ts";
import { checkClient, type CheckedBy, checkLabels, checkScrapeClass, checkTimeout } from "./check-scrape.ts";
import { checkSelector } from "./check-selector.ts";
import { firstRefusal, refuse, type Refusal, within } from "./refusal.ts";
import { probeClients } from "./scrape-clients.ts";

export function checkProbe(by: CheckedBy, probe: Probe): Refusal | undefined {
  const { spec, metadata } = probe;
  return firstRefusal([
    checkScrapeClass(by, spec.scrapeClass),
    checkTargets(by, spec.targets),
    ...probeClients(probe).map(({ field, client }) => within(field, checkClient(by, metadata.namespace ?? "", client))),
    within("spec", checkTimeout(by, spec)),
    checkRelabelings(by.version, "spec.metricRelabelings", spec.metricRelabelings),
    checkProber(spec.prober?.url ?? ""),
  ]);
}

function checkTargets({ version, ...by }: CheckedBy, targets: ProbeTargets = {}): Refusal | undefined {
  const { staticConfig, ingress } = targets;
  if (staticConfig === undefined && ingress === undefined)
    return refuse("spec.targets", "expected staticConfig or ingress");
  return firstRefusal([
    within("spec.targets.staticConfig", checkLabels({ version, ...by }, staticConfig?.labels)),
    within("spec.targets.ingress", checkSelector(ingress?.selector ?? {})),
    ...[{ staticConfig }, { ingress }].flatMap((each) =>
      Object.entries(each).map(([name, config]) =>
        checkRelabelings(version, `spec.targets.${name}.relabelingConfigs`, config?.relabelingConfigs),
      ),
    ),
  ]);
}

const dnsName = /^[a-zA-Z0-9_][a-zA-Z0-9_-]{0,62}(?:\.[a-zA-Z0-9_][a-zA-Z0-9_-]{0,62})*[._]?$/;
const dnsLengthMax = 255;
const portMax = 65_535;

/** `HOST:PORT`, with brackets about an IPv6 address. */
const withPort = /^(?:\[(?<address>[^\]]*)\]|(?<host>[^:]*)):(?<port>[^:]*)$/;

function checkProber(url: string): Refusal | undefined {
  const { address, host = address, port } = withPort.exec(url)?.groups ?? {};
  const isValid = host === undefined ? isHost(url) : isHost(host) && isPort(port ?? "");
  return isValid ? undefined : refuse("spec.prober.url", `expected a host or HOST:PORT, got "${url}"`);
}

function isHost(text: string): boolean {
  return isIP(text) !== 0 || (dnsName.test(text) && text.replaceAll(".", "").length <= dnsLengthMax);
}

function isPort(text: string): boolean {
  return /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= portMax;
}
