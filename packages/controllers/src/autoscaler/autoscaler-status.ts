/** The status of an autoscaler, in the words of upstream. */
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerCondition,
  HorizontalPodAutoscalerStatus,
} from "@setpoint/api";
import { deepEqual } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";

export interface ConditionChange {
  readonly type: "AbleToScale" | "ScalingActive" | "ScalingLimited";
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

export interface StatusChange {
  readonly conditions: readonly ConditionChange[];
  /** Absent: as it was. */
  readonly counts?: Pick<HorizontalPodAutoscalerStatus, "currentReplicas" | "desiredReplicas" | "currentMetrics">;
  /** RFC 3339, when the target was scaled. */
  readonly scaledAt?: string;
}

/** The new status; undefined when it is the present one. */
export function nextStatus(
  autoscaler: Stored<HorizontalPodAutoscaler>,
  { conditions, counts, scaledAt }: StatusChange,
  now: string,
): HorizontalPodAutoscalerStatus | undefined {
  const present = presentStatus(autoscaler);
  const { currentMetrics = [], ...numbers } = counts ?? present;
  const { currentMetrics: _, ...kept } = present;
  const next = {
    ...kept,
    ...numbers,
    ...(currentMetrics.length === 0 ? {} : { currentMetrics }),
    ...(scaledAt === undefined ? {} : { lastScaleTime: scaledAt }),
    conditions: conditions.reduce((all, each) => withCondition(all, each, now), present.conditions),
  };
  return deepEqual(next, present) ? undefined : next;
}

type Present = HorizontalPodAutoscalerStatus & Required<Pick<HorizontalPodAutoscalerStatus, "conditions">>;

/** The API server writes null for lists that are absent. */
function presentStatus({ status = { desiredReplicas: 0 } }: Stored<HorizontalPodAutoscaler>): Present {
  const { currentMetrics, conditions, ...numbers } = status as { readonly [K in keyof Present]: Present[K] | null };
  return {
    ...(numbers as Omit<Present, "conditions" | "currentMetrics">),
    ...(currentMetrics ? { currentMetrics } : {}),
    conditions: conditions ?? [],
  };
}

function withCondition(
  present: readonly HorizontalPodAutoscalerCondition[],
  { type, status, reason, message }: ConditionChange,
  now: string,
): readonly HorizontalPodAutoscalerCondition[] {
  const before = present.find((each) => each.type === type);
  const lastTransitionTime = before?.status === status ? (before.lastTransitionTime ?? now) : now;
  const next = { type, status, lastTransitionTime, reason, message };
  return before === undefined ? [...present, next] : present.map((each) => (each === before ? next : each));
}
