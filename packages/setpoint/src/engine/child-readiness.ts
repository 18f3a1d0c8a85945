/** Whether a child is as its own spec wants it, as kstatus reads objects of any kind. */
import { findCondition, isConditionTrue, type Condition, type KubeObject } from "@setpoint/apimachinery";
import type { Pod } from "@setpoint/api";
import { podProblem } from "../pods/pod-problem.ts";

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
  const { metadata, apiVersion, kind } = child;
  const { spec = {}, status = {} } = child as Facts;
  if (metadata.deletionTimestamp !== undefined) return waiting("it is being deleted");
  const seen = status["observedGeneration"];
  if (typeof seen === "number" && metadata.generation !== undefined && seen < metadata.generation)
    return waiting("its controller has not seen its newest spec");
  const rule = ruleOf[`${apiVersion} ${kind}`];
  return rule === undefined ? byConditions(status.conditions ?? []) : (rule(spec, status, child) ?? ready);
}

type Rule = (
  spec: NonNullable<Facts["spec"]>,
  status: NonNullable<Facts["status"]>,
  child: KubeObject,
) => Readiness | undefined;

/** Undefined: nothing speaks against it. With their versions: kinds of others have the same names. */
const ruleOf: Readonly<Record<string, Rule>> = {
  "apps/v1 Deployment": (spec, status) => ofReplicas(spec, status, "updatedReplicas", "availableReplicas"),
  "apps/v1 StatefulSet": (spec, status) => ofReplicas(spec, status, "updatedReplicas", "readyReplicas"),
  "apps/v1 ReplicaSet": (spec, status) => ofReplicas(spec, status, "readyReplicas"),
  "apps/v1 DaemonSet": (_spec, status) => {
    const wanted = numberOf(status["desiredNumberScheduled"]);
    const there = numberOf(status["numberAvailable"]);
    return there < wanted ? waiting(`${there} of ${wanted} pods are available`) : undefined;
  },
  "batch/v1 Job": (_spec, status) => {
    const failure = findCondition(status.conditions, "Failed");
    if (failure?.status === "True") return { kind: "failed", why: failure.message };
    return isConditionTrue(status.conditions, "Complete") ? undefined : waiting("it has not completed");
  },
  "v1 Pod": (_spec, status, child) => {
    const why = podProblem(child as Pod)?.message;
    if (status["phase"] === "Failed") return { kind: "failed", why: why ?? "it has failed" };
    return status["phase"] === "Succeeded" || isConditionTrue(status.conditions, "Ready")
      ? undefined
      : waiting(why ?? "it is not ready");
  },
  "v1 PersistentVolumeClaim": (_spec, status) => (status["phase"] === "Bound" ? undefined : waiting("it is not bound")),
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
  const stalled = findCondition(conditions, "Stalled");
  if (stalled?.status === "True") return { kind: "failed", why: stalled.message };
  const busy = findCondition(conditions, "Reconciling");
  if (busy?.status === "True") return waiting(busy.message);
  const answer = findCondition(conditions, "Ready");
  return answer === undefined || answer.status === "True" ? ready : waiting(answer.message);
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

function waiting(why: string): Readiness {
  return { kind: "waiting", why };
}
