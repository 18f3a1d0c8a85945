/** Whether a child is as its own spec wants it, as kstatus reads objects of any kind. */
import type { Condition, KubeObject } from "@setpoint/apimachinery";

export interface Readiness {
  readonly kind: "ready" | "waiting" | "failed";
  /** Why not; empty for what is ready. */
  readonly why: string;
}

/** Of the many fields that kinds have, those that tell. */
interface Facts {
  readonly spec?: { readonly replicas?: number };
  readonly status?: Readonly<Record<string, unknown>> & { readonly conditions?: readonly Condition[] };
}

const ready: Readiness = { kind: "ready", why: "" };

export function readinessOf(child: KubeObject): Readiness {
  const { metadata } = child;
  const { spec = {}, status = {} } = child as Facts;
  if (metadata.deletionTimestamp !== undefined) return waiting("it is being deleted");
  const seen = status["observedGeneration"];
  if (typeof seen === "number" && metadata.generation !== undefined && seen < metadata.generation)
    return waiting("its controller has not seen its newest spec");
  const rule = ruleOf[child.kind];
  const byKind = rule?.(spec, status);
  if (byKind !== undefined) return byKind;
  return rule === undefined ? byConditions(status.conditions ?? []) : ready;
}

type Rule = (spec: NonNullable<Facts["spec"]>, status: NonNullable<Facts["status"]>) => Readiness | undefined;

/** Undefined: nothing speaks against it. */
const ruleOf: Readonly<Record<string, Rule>> = {
  Deployment: (spec, status) => ofReplicas(spec, status, "updatedReplicas", "availableReplicas"),
  StatefulSet: (spec, status) => ofReplicas(spec, status, "updatedReplicas", "readyReplicas"),
  ReplicaSet: (spec, status) => ofReplicas(spec, status, "readyReplicas"),
  DaemonSet: (_spec, status) => {
    const wanted = numberOf(status["desiredNumberScheduled"]);
    const there = numberOf(status["numberAvailable"]);
    return there < wanted ? waiting(`${there} of ${wanted} pods are available`) : undefined;
  },
  Job: (_spec, status) => {
    const failure = status.conditions?.find(({ type, status }) => type === "Failed" && status === "True");
    if (failure !== undefined) return { kind: "failed", why: failure.message };
    return isTrue(status.conditions, "Complete") ? undefined : waiting("it has not completed");
  },
  Pod: (_spec, status) => {
    if (status["phase"] === "Failed") return { kind: "failed", why: "it has failed" };
    return status["phase"] === "Succeeded" || isTrue(status.conditions, "Ready")
      ? undefined
      : waiting("it is not ready");
  },
  PersistentVolumeClaim: (_spec, status) => (status["phase"] === "Bound" ? undefined : waiting("it is not bound")),
};

function ofReplicas(
  { replicas = 1 }: { readonly replicas?: number },
  status: Readonly<Record<string, unknown>>,
  ...fields: readonly string[]
): Readiness | undefined {
  const there = Math.min(...fields.map((field) => numberOf(status[field])));
  return there < replicas ? waiting(`${there} of ${replicas} replicas are up to date and ready`) : undefined;
}

/** Kinds of others say it in conditions; a kind without any is ready when it is there. */
function byConditions(conditions: readonly Condition[]): Readiness {
  const stalled = conditions.find(({ type, status }) => type === "Stalled" && status === "True");
  if (stalled !== undefined) return { kind: "failed", why: stalled.message };
  const busy = conditions.find(({ type, status }) => type === "Reconciling" && status === "True");
  if (busy !== undefined) return waiting(busy.message);
  const unready = conditions.find(({ type, status }) => type === "Ready" && status !== "True");
  return unready === undefined ? ready : waiting(unready.message);
}

function isTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return conditions?.some((each) => each.type === type && each.status === "True") ?? false;
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

function waiting(why: string): Readiness {
  return { kind: "waiting", why };
}
