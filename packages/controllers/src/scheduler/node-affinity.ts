/** Which nodes a pod selects by labels and names; pure. */
import type { Node, Pod } from "@setpoint/api";

/** Whether the node has what the selector and the required node affinity of the pod ask for. */
export function matchesNodeSelector(pod: Pick<Pod, "spec">, node: Node): boolean {
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
