/** Why Prometheus has no target of a job: what the selector finds, and which ports that has; pure. */
import { selectorText } from "../generate/discovery.ts";
import { selectorMismatches } from "../select/selector-mismatch.ts";
import { counted, type Explanation } from "./explanation.ts";
import type {
  Candidate,
  DiscoveredFacts,
  PortFacts,
  StatedJob,
  StatedPort,
  TargetFacts,
  UserFacts,
} from "./target-facts.ts";

const namesMax = 5;

export function explainDiscovery(facts: TargetFacts, user: UserFacts, job: StatedJob): Explanation {
  const { discovered } = facts;
  if (discovered === undefined) return explainStated(facts, user, job);
  if (discovered.unread !== undefined) return { status: "Unknown", reason: "NotRead", message: discovered.unread };
  return (
    explainMatches(discovered) ??
    explainPort(discovered, job) ??
    explainAddresses(discovered) ??
    waits(user, job, found(discovered))
  );
}

function explainStated(
  { kind, stated = 0, elsewhere = [] }: TargetFacts,
  user: UserFacts,
  job: StatedJob,
): Explanation {
  if (stated > 0) return waits(user, job, `The ${kind} names ${counted(stated, "address")}`);
  if (elsewhere.length > 0) return waits(user, job, `The ${kind} looks for addresses by ${elsewhere.join(", ")}`);
  return fails("NothingStated", `The ${kind} names no address`);
}

function explainMatches(discovered: DiscoveredFacts): Explanation | undefined {
  const { matching, others, namespaces, missingNamespaces, selector, selectorField, noun } = discovered;
  if (namespaces !== undefined && missingNamespaces.length === namespaces.length)
    return fails(
      "NamespaceNotFound",
      `Namespace ${quoted(missingNamespaces)} does not exist; correct spec.namespaceSelector`,
    );
  if (matching.length > 0) return undefined;
  const text = selectorText(selector);
  const where = placeText(namespaces);
  const what = text === "" ? `There is no ${noun} ${where}` : `${selectorField} (${text}) matches no ${noun} ${where}`;
  const [nearest] = others.toSorted((a, b) => mismatches(a).length - mismatches(b).length);
  const differs =
    nearest === undefined
      ? "there is none"
      : `the nearest is "${nearest.namespace}/${nearest.name}": ${mismatches(nearest).join(" and ")}`;
  return fails(reasonOfNone[noun], text === "" ? what : `${what}; ${differs}`);

  function mismatches({ labels }: Candidate): readonly string[] {
    return selectorMismatches(selector, labels);
  }
}

const reasonOfNone = { Service: "NoServiceMatches", pod: "NoPodMatches", Ingress: "NoIngressMatches" } as const;

function explainPort(discovered: DiscoveredFacts, { field, port }: StatedJob): Explanation | undefined {
  if (port === undefined) return undefined;
  const ports = discovered.matching.flatMap((each) => each[port.of] ?? []);
  // Nobody can say which ports the containers have while there are none.
  const isKnown = port.of === "ports" || ports.length > 0 || sumOf(discovered.matching) !== 0;
  if (!isKnown || ports.some((each) => isPort(each, port))) return undefined;
  const names = [...new Set(ports.map(portText))].slice(0, namesMax);
  const has =
    names.length === 0 ? "there are no ports" : `there ${names.length === 1 ? "is" : "are"} ${names.join(", ")}`;
  const asked = typeof port.value === "number" ? String(port.value) : `"${port.value}"`;
  const whose = port.of === "ports" && discovered.noun === "Service" ? "" : " of a container";
  return fails("PortNotFound", `${found(discovered)}, but ${field}.${port.field} ${asked} is no port${whose}; ${has}`);
}

function isPort({ name, number }: PortFacts, { value }: StatedPort): boolean {
  return typeof value === "number" ? number === value : name === value;
}

function portText({ name, number }: PortFacts): string {
  return name === undefined || name === "" ? `${number ?? 0} without a name` : `"${name}"`;
}

function explainAddresses(discovered: DiscoveredFacts): Explanation | undefined {
  if (discovered.noun === "Ingress" || sumOf(discovered.matching) !== 0) return undefined;
  const because =
    discovered.noun === "Service" ? "the selector of the Service matches no ready pod" : "no pod has an address";
  return fails("NoEndpoints", `${found(discovered)}, so there is no target: ${because}`);
}

/** Undefined when one is not known. */
function sumOf(candidates: readonly Candidate[]): number | undefined {
  let sum = 0;
  for (const { addresses } of candidates) {
    if (addresses === undefined) return undefined;
    sum += addresses;
  }
  return sum;
}

function found({ noun, namespaces, matching }: DiscoveredFacts): string {
  const names = matching.slice(0, namesMax).map(({ name }) => name);
  const more = matching.length > names.length ? ", …" : "";
  const verb = matching.length === 1 ? "matches" : "match";
  const sum = sumOf(matching);
  const endpoints =
    sum === undefined || noun === "Ingress" ? "" : ` with ${counted(sum, noun === "Service" ? "endpoint" : "address")}`;
  return `${counted(matching.length, noun)} ${verb} ${placeText(namespaces)} (${names.join(", ")}${more})${endpoints}`;
}

/** There is something to scrape, but Prometheus has no target of it, or did not say. */
function waits({ pools, silence }: UserFacts, { field, pool, relabels }: StatedJob, what: string): Explanation {
  if (pools.get(pool) === undefined)
    return {
      status: "Unknown",
      reason: "NotAsked",
      message: `${what}; ${silence ?? "Prometheus was not asked for targets"}`,
    };
  if (relabels)
    return fails(
      "AllDropped",
      `${what}, but Prometheus has no target: ${field}.relabelings drop all, or it has not found them yet`,
    );
  return { status: "Unknown", reason: "NotFoundYet", message: `${what}, but Prometheus has not found them yet` };
}

function placeText(namespaces: readonly string[] | undefined): string {
  if (namespaces === undefined) return "in any namespace";
  return `in namespace ${quoted(namespaces)}`;
}

function quoted(names: readonly string[]): string {
  const shown = names.slice(0, namesMax).map((name) => `"${name}"`);
  return shown.join(" or ") + (names.length > shown.length ? " or others" : "");
}

function fails(reason: string, message: string): Explanation {
  return { status: "False", reason, message };
}
