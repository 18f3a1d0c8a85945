/** The labels that a node agent may set on its Node: none that isolate trusted workloads on certain nodes. */

const agentLabels: ReadonlySet<string> = new Set([
  "kubernetes.io/hostname",
  "kubernetes.io/os",
  "kubernetes.io/arch",
  "beta.kubernetes.io/os",
  "beta.kubernetes.io/arch",
  "beta.kubernetes.io/instance-type",
  "node.kubernetes.io/instance-type",
  "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region",
]);
const agentDomains = ["kubelet.kubernetes.io", "node.kubernetes.io"];
const systemDomains = ["kubernetes.io", "k8s.io"];
const restrictedDomains = ["node-restriction.kubernetes.io"];

type Labels = Readonly<Record<string, string>>;

/** Keys that were added, changed or removed and are not the agent's to write, sorted. */
export function forbiddenNodeLabels(labels: Labels, before: Labels): readonly string[] {
  const keys = new Set([...Object.keys(labels), ...Object.keys(before)]);
  return [...keys].filter((key) => labels[key] !== before[key] && isForbidden(key)).sort();
}

function isForbidden(key: string): boolean {
  const slash = key.indexOf("/");
  const domain = slash === -1 ? "" : key.slice(0, slash);
  if (isIn(domain, restrictedDomains)) return true;
  return isIn(domain, systemDomains) && !agentLabels.has(key) && !isIn(domain, agentDomains);
}

function isIn(domain: string, domains: readonly string[]): boolean {
  return domains.some((each) => domain === each || domain.endsWith(`.${each}`));
}
