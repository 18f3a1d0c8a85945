/** Which nodes a pod selects by labels and names; pure. */
import type { Node, Pod } from "@setpoint/api";
import { type Filter, unfit } from "./filter.ts";

/** Whether the node has what the selector and the required node affinity of the pod ask for. */
export function matchesNodeSelector(pod: Pick<Pod, "spec">, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  const selector = pod.spec?.nodeSelector ?? {};
  if (!Object.entries(selector).every(([key, value]) => labels[key] === value)) return false;
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return terms === undefined || terms.some((term) => matchesTerm(term, labels, node.metadata.name ?? ""));
}

/** Terms of a node selector are alternatives. */
export type NodeSelectorTerm = NonNullable<
  NonNullable<
    NonNullable<NonNullable<Pod["spec"]>["affinity"]>["nodeAffinity"]
  >["requiredDuringSchedulingIgnoredDuringExecution"]
>["nodeSelectorTerms"][number];

/** Whether the node has all that the term names. A term without any matches no node. */
export function matchesTerm(term: NodeSelectorTerm, labels: Readonly<Record<string, string>>, name: string): boolean {
  if ((term.matchExpressions ?? []).length + (term.matchFields ?? []).length === 0) return false;
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

export const nodeAffinityMatched: Filter = (pod, { node }) =>
  matchesNodeSelector(pod, node) ? [] : unfit("node(s) didn't match Pod's node affinity/selector");
