/** What the rules of an autoscaler make of a recommendation; pure. */
import type { HorizontalPodAutoscalerBehavior, HPAScalingPolicy, HPAScalingRules } from "@setpoint/api";

export interface Recommendation {
  readonly atMs: number;
  readonly replicas: number;
}

/** Replicas that were added, or removed when negative. */
export interface ScaleEvent {
  readonly atMs: number;
  readonly change: number;
}

/** What the controller remembers of an autoscaler, the oldest first. */
export interface ScalingHistory {
  readonly recommendations: readonly Recommendation[];
  readonly events: readonly ScaleEvent[];
}

export interface RuleInput {
  readonly behavior: HorizontalPodAutoscalerBehavior | undefined;
  readonly current: number;
  readonly recommended: number;
  readonly min: number;
  readonly max: number;
  readonly history: ScalingHistory;
  readonly nowMs: number;
}

export interface Reason {
  readonly reason: string;
  readonly message: string;
}

export interface RuledReplicas {
  readonly replicas: number;
  /** Of the condition AbleToScale. */
  readonly ability: Reason;
  /** Of the condition ScalingLimited. */
  readonly limit: Reason & { readonly isLimited: boolean };
}

const downWindowSeconds = 300;
/** Without a behavior: at most this factor at once, or up to this many replicas. */
const upFactor = 2;
const upReplicasMin = 4;

/** As kube-apiserver completes a behavior that a user began. */
const upDefault: Required<Omit<HPAScalingRules, "tolerance">> = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ],
};
const downDefault: Required<Omit<HPAScalingRules, "tolerance">> = {
  stabilizationWindowSeconds: downWindowSeconds,
  selectPolicy: "Max",
  policies: [{ type: "Percent", value: 100, periodSeconds: 15 }],
};

/** First the windows, then the rates, then minimum and maximum. */
export function applyRules(input: RuleInput): RuledReplicas {
  const stabilized = input.behavior === undefined ? highestRecent(input) : stabilize(input, input.behavior);
  const limited = limit({ ...input, recommended: stabilized.replicas });
  const isLimited = limited.replicas !== stabilized.replicas;
  return { replicas: limited.replicas, ability: stabilized, limit: { ...limited, isLimited } };
}

type Step = Reason & { readonly replicas: number };

const ready: Reason = { reason: "ReadyForNewScale", message: "recommended size matches current size" };
const downStabilized: Reason = {
  reason: "ScaleDownStabilized",
  message: "recent recommendations were higher than current one, applying the highest recent recommendation",
};
const upStabilized: Reason = {
  reason: "ScaleUpStabilized",
  message: "recent recommendations were lower than current one, applying the lowest recent recommendation",
};

function highestRecent({ recommended, history, nowMs }: RuleInput): Step {
  const recent = since(history.recommendations, nowMs - downWindowSeconds * 1_000);
  const replicas = Math.max(recommended, ...recent.map((each) => each.replicas));
  return { replicas, ...(replicas === recommended ? ready : downStabilized) };
}

/** Up to the lowest, down to the highest of what was recommended within the window of each direction. */
function stabilize(
  { current, recommended, history, nowMs }: RuleInput,
  { scaleUp, scaleDown }: HorizontalPodAutoscalerBehavior,
): Step {
  const within = (rules: HPAScalingRules | undefined, seconds: number): readonly number[] =>
    since(history.recommendations, nowMs - (rules?.stabilizationWindowSeconds ?? seconds) * 1_000).map(
      ({ replicas }) => replicas,
    );
  const lowest = Math.min(recommended, ...within(scaleUp, upDefault.stabilizationWindowSeconds));
  const highest = Math.max(recommended, ...within(scaleDown, downDefault.stabilizationWindowSeconds));
  const replicas = Math.min(Math.max(current, lowest), highest);
  const held = recommended >= current ? upStabilized : downStabilized;
  return { replicas, ...(replicas === recommended ? ready : held) };
}

function limit(input: RuleInput): Step {
  const { behavior, current, recommended, min, max } = input;
  const upLimit = behavior === undefined ? Math.max(upFactor * current, upReplicasMin) : upLimitOf(input);
  const downLimit = behavior === undefined ? 0 : downLimitOf(input);
  // Without a behavior the minimum wins over a limit that is below it.
  const isUp = behavior === undefined ? recommended >= min : recommended > current;
  if (isUp && recommended > Math.min(max, upLimit))
    return max > upLimit ? { replicas: upLimit, ...tooFast("increasing") } : { replicas: max, ...tooMany };
  if (!isUp && recommended < Math.max(min, downLimit))
    return min < downLimit ? { replicas: downLimit, ...tooFast("decreasing") } : { replicas: min, ...tooFew };
  return {
    replicas: recommended,
    reason: "DesiredWithinRange",
    message: "the desired count is within the acceptable range",
  };
}

const tooMany: Reason = {
  reason: "TooManyReplicas",
  message: "the desired replica count is more than the maximum replica count",
};
const tooFew: Reason = {
  reason: "TooFewReplicas",
  message: "the desired replica count is less than the minimum replica count",
};

function tooFast(how: "increasing" | "decreasing"): Reason {
  return {
    reason: how === "increasing" ? "ScaleUpLimit" : "ScaleDownLimit",
    message: `the desired replica count is ${how} faster than the maximum scale rate`,
  };
}

function upLimitOf(input: RuleInput): number {
  const { selectPolicy, policies } = { ...upDefault, ...input.behavior?.scaleUp };
  if (selectPolicy === "Disabled") return input.current;
  const allowed = policies.map((policy) => {
    const start = periodStart(policy, input);
    return policy.type === "Pods" ? start + policy.value : Math.ceil(start * (1 + policy.value / 100));
  });
  const chosen = selectPolicy === "Min" ? Math.min(...allowed) : Math.max(...allowed);
  return Math.max(input.current, chosen);
}

function downLimitOf(input: RuleInput): number {
  const { selectPolicy, policies } = { ...downDefault, ...input.behavior?.scaleDown };
  if (selectPolicy === "Disabled") return input.current;
  const allowed = policies.map((policy) => {
    const start = periodStart(policy, input);
    return policy.type === "Pods" ? start - policy.value : Math.trunc(start * (1 - policy.value / 100));
  });
  const chosen = selectPolicy === "Min" ? Math.max(...allowed) : Math.min(...allowed);
  return Math.min(input.current, chosen);
}

/** The replicas when the period of a policy began. */
function periodStart({ periodSeconds }: HPAScalingPolicy, { current, history, nowMs }: RuleInput): number {
  const recent = since(history.events, nowMs - periodSeconds * 1_000);
  return current - recent.reduce((sum, { change }) => sum + change, 0);
}

function since<T extends { readonly atMs: number }>(entries: readonly T[], fromMs: number): readonly T[] {
  return entries.filter(({ atMs }) => atMs > fromMs);
}
