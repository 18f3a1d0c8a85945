/** Whether a pod may run on a node, and in upstream's words why not; pure. */
import type { Node, Pod } from "@setpoint/api";

type Taint = NonNullable<NonNullable<Node["spec"]>["taints"]>[number];
type Toleration = NonNullable<NonNullable<Pod["spec"]>["tolerations"]>[number];

/** Undefined when it fits. */
export function misfit(pod: Pod, node: Node, podsOnNode: number): string | undefined {
  if (node.spec?.unschedulable === true) return "node(s) were unschedulable";
  const ready = node.status?.conditions?.find((each) => each.type === "Ready");
  if (ready?.status !== "True") return "node(s) were not ready";
  const taint = node.spec?.taints?.find(
    (each) => each.effect !== "PreferNoSchedule" && !isTolerated(each, pod.spec?.tolerations ?? []),
  );
  if (taint !== undefined) return `node(s) had untolerated taint(s) {${taint.key}: ${taint.value ?? ""}}`;
  if (!matchesSelector(pod, node)) return "node(s) didn't match Pod's node affinity/selector";
  if (podsOnNode >= Number(node.status?.allocatable?.["pods"] ?? 110)) return "Too many pods";
  return undefined;
}

export function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return tolerations.some(
    ({ key, operator = "Equal", value = "", effect }) =>
      (effect === undefined || effect === taint.effect) &&
      (operator === "Exists" ? (key ?? taint.key) === taint.key : key === taint.key && value === (taint.value ?? "")),
  );
}

function matchesSelector(pod: Pod, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  const selector = pod.spec?.nodeSelector ?? {};
  if (!Object.entries(selector).every(([key, value]) => labels[key] === value)) return false;
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return terms === undefined || terms.some((term) => matchesTerm(term, labels, node.metadata.name ?? ""));
}

type Term = NonNullable<
  NonNullable<
    NonNullable<NonNullable<Pod["spec"]>["affinity"]>["nodeAffinity"]
  >["requiredDuringSchedulingIgnoredDuringExecution"]
>["nodeSelectorTerms"][number];

function matchesTerm(term: Term, labels: Readonly<Record<string, string>>, name: string): boolean {
  const byLabel = (term.matchExpressions ?? []).every((each) =>
    matchesExpression(each, Object.hasOwn(labels, each.key) ? labels[each.key] : undefined),
  );
  return (
    byLabel &&
    (term.matchFields ?? []).every((each) => matchesExpression(each, each.key === "metadata.name" ? name : undefined))
  );
}

interface Expression {
  readonly operator: string;
  readonly values?: readonly string[];
}

function matchesExpression({ operator, values = [] }: Expression, actual: string | undefined): boolean {
  switch (operator) {
    case "In":
      return actual !== undefined && values.includes(actual);
    case "NotIn":
      return actual === undefined || !values.includes(actual);
    case "Exists":
      return actual !== undefined;
    case "DoesNotExist":
      return actual === undefined;
    case "Gt":
      return actual !== undefined && Number(actual) > Number(values[0]);
    case "Lt":
      return actual !== undefined && Number(actual) < Number(values[0]);
    default:
      return false;
  }
}
